//! Reads OTLP protobuf by the wire format alone (opentelemetry-proto v1, `trace.proto`): a decoder that shares nothing with
//! the exporter's.

use std::collections::BTreeMap;

/// A field of a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field {
    Varint(u64),
    Fixed64(u64),
    Bytes(Vec<u8>),
    Fixed32(u32),
}

impl Field {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            other @ (Self::Varint(_) | Self::Fixed64(_) | Self::Fixed32(_)) => {
                panic!("{other:?} is not length-delimited")
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
    }
    panic!("a varint of more than ten bytes");
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (head, rest) = bytes.split_at(count);
    *bytes = rest;
    head
}

/// A message's fields by number, each in the order of its occurrences.
pub(crate) fn message(mut bytes: &[u8]) -> BTreeMap<u64, Vec<Field>> {
    let mut fields: BTreeMap<u64, Vec<Field>> = BTreeMap::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => Field::Varint(varint(&mut bytes)),
            1 => Field::Fixed64(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                Field::Bytes(take(&mut bytes, length).to_vec())
            }
            5 => Field::Fixed32(u32::from_le_bytes(take(&mut bytes, 4).try_into().unwrap())),
            other => panic!("wire type {other}"),
        };
        fields.entry(tag >> 3).or_default().push(field);
    }
    fields
}

/// An attribute's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Any {
    Text(String),
    Flag(bool),
    Integer(i64),
    Float(f64),
    Texts(Vec<String>),
}

fn any(bytes: &[u8]) -> Any {
    let fields = message(bytes);
    let (number, values) = fields.iter().next().unwrap();
    match (number, &values[0]) {
        (1, text) => Any::Text(text.text()),
        (2, Field::Varint(flag)) => Any::Flag(*flag != 0),
        (3, Field::Varint(number)) => Any::Integer(number.cast_signed()),
        (4, Field::Fixed64(bits)) => Any::Float(f64::from_bits(*bits)),
        (5, list) => {
            let members = message(list.bytes()).remove(&1).unwrap_or_default();
            let text = |member: &Field| match any(member.bytes()) {
                Any::Text(text) => text,
                other @ (Any::Flag(_) | Any::Integer(_) | Any::Float(_) | Any::Texts(_)) => {
                    panic!("{other:?} in a list")
                }
            };
            Any::Texts(members.iter().map(text).collect())
        }
        other => panic!("value {other:?}"),
    }
}

fn attributes(fields: Option<&Vec<Field>>) -> BTreeMap<String, Any> {
    let pairs = fields.into_iter().flatten().map(|pair| {
        let pair = message(pair.bytes());
        (pair[&1][0].text(), any(pair[&2][0].bytes()))
    });
    pairs.collect()
}

/// A span as it stood on the wire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WireSpan {
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    pub(crate) parent: String,
    pub(crate) name: String,
    pub(crate) kind: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) attributes: BTreeMap<String, Any>,
    /// Trace and span ids.
    pub(crate) links: Vec<(String, String)>,
    /// Code (2 is an error) and description.
    pub(crate) status: (u64, String),
    pub(crate) flags: u32,
    pub(crate) scope: String,
    pub(crate) resource: BTreeMap<String, Any>,
}

fn hex(field: Option<&Vec<Field>>) -> String {
    let bytes = field.map(|values| values[0].bytes().to_vec()).unwrap_or_default();
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// The spans of an `ExportTraceServiceRequest`.
pub(crate) fn spans(request: &[u8]) -> Vec<WireSpan> {
    let mut spans = Vec::new();
    for resource_spans in message(request).remove(&1).unwrap_or_default() {
        let resource_spans = message(resource_spans.bytes());
        let resource = attributes(message(resource_spans[&1][0].bytes()).get(&1));
        for scope_spans in &resource_spans[&2] {
            let scope_spans = message(scope_spans.bytes());
            let scope = message(scope_spans[&1][0].bytes())[&1][0].text();
            for span in &scope_spans[&2] {
                spans.push(one(&message(span.bytes()), &scope, &resource));
            }
        }
    }
    spans
}

fn one(fields: &BTreeMap<u64, Vec<Field>>, scope: &str, resource: &BTreeMap<String, Any>) -> WireSpan {
    let fixed = |number: u64| match fields.get(&number).map(|values| &values[0]) {
        Some(Field::Fixed64(value)) => *value,
        other => panic!("field {number}: {other:?}"),
    };
    let number = |fields: &BTreeMap<u64, Vec<Field>>, number: u64| match fields.get(&number).map(|values| &values[0])
    {
        Some(Field::Varint(value)) => *value,
        None => 0,
        other => panic!("field {number}: {other:?}"),
    };
    let links = fields.get(&13).into_iter().flatten().map(|link| {
        let link = message(link.bytes());
        (hex(link.get(&1)), hex(link.get(&2)))
    });
    let status = fields
        .get(&15)
        .map(|status| message(status[0].bytes()))
        .unwrap_or_default();
    WireSpan {
        trace_id: hex(fields.get(&1)),
        span_id: hex(fields.get(&2)),
        parent: hex(fields.get(&4)),
        name: fields[&5][0].text(),
        kind: number(fields, 6),
        start: fixed(7),
        end: fixed(8),
        attributes: attributes(fields.get(&9)),
        links: links.collect(),
        status: (
            number(&status, 3),
            status.get(&2).map(|text| text[0].text()).unwrap_or_default(),
        ),
        flags: match fields.get(&16).map(|values| &values[0]) {
            Some(Field::Fixed32(flags)) => *flags,
            other => panic!("flags {other:?}"),
        },
        scope: scope.to_owned(),
        resource: resource.clone(),
    }
}
