// collector.mjs FILE PORT: a collector of OTLP/HTTP in JSON on loopback. Appends every trace request to FILE, a line each;
// prints its URL when it listens, and ends with TERM when everything has been written.
import { appendFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";

const [file, port] = process.argv.slice(2);
writeFileSync(file, "");
const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const sent = Buffer.concat(parts);
    const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
    if (request.url === "/v1/traces") appendFileSync(file, `${JSON.stringify(JSON.parse(body))}\n`);
    response.writeHead(200, { "content-type": "application/json" });
    response.end("{}");
  });
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.on("SIGTERM", () => process.exit(0));
