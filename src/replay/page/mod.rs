//! The tree as one self-contained page.
//!
//! No templating library: not one value of a transcript becomes markup. The page is three files of our own (`page.html`,
//! `page.css`, `page.js`) and data, and data is JSON in `<script type="application/json">` elements, which no browser
//! runs, with every character escaped that could end one. The script puts it into the page as text. The content policy
//! allows that one script and that one style sheet, by their hashes, pictures from the page itself, and nothing else.

mod policy;
mod rows;
mod write;

pub use write::Page;
