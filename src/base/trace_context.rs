//! W3C trace context: the `TRACEPARENT` value that ties a cell's span to its parent's trace.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// A value that is not a valid `traceparent` (W3C Trace Context, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a W3C traceparent (version-trace-span-flags, lower-case hex, not all zero)")]
pub struct TraceContextError;

/// A trace id: 16 bytes, not all zero, shown as 32 lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

/// A span id: 8 bytes, not all zero, shown as 16 lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId([u8; 8]);

impl TraceId {
    /// A new random id.
    #[must_use]
    pub fn random() -> Self {
        // A version-4 UUID is never all zero: its version bits are set.
        Self(*Uuid::new_v4().as_bytes())
    }

    /// The id's bytes, as OTLP carries them.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl SpanId {
    /// A new random id.
    #[must_use]
    pub fn random() -> Self {
        let bytes = Uuid::new_v4().into_bytes();
        let mut id = [0_u8; 8];
        // The first half holds the version nibble, which keeps it from being all zero.
        id.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        Self(id)
    }

    /// The id that `bytes` are. All zero is no id: it becomes the id 1.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 8]) -> Self {
        if u64::from_be_bytes(bytes) == 0 {
            Self(1_u64.to_be_bytes())
        } else {
            Self(bytes)
        }
    }

    /// The id's bytes, as OTLP carries them.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 8] {
        self.0
    }
}

/// A parsed `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace_id: TraceId,
    /// The span that is the parent of what is started with this value.
    pub span_id: SpanId,
    /// Whether the trace is sampled (bit 0 of the flags).
    pub sampled: bool,
}

fn parse_hex<const N: usize>(text: &str) -> Result<[u8; N], TraceContextError> {
    let lower = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
    if text.len() != N * 2 || !text.as_bytes().iter().all(lower) {
        return Err(TraceContextError);
    }
    let mut bytes = [0_u8; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| TraceContextError)?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| TraceContextError)?;
    }
    Ok(bytes)
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

macro_rules! hex_id {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(f, &self.0)
            }
        }

        impl FromStr for $name {
            type Err = TraceContextError;

            fn from_str(text: &str) -> Result<Self, TraceContextError> {
                let bytes = parse_hex(text)?;
                if bytes.iter().all(|b| *b == 0) {
                    Err(TraceContextError)
                } else {
                    Ok(Self(bytes))
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

hex_id!(TraceId);
hex_id!(SpanId);

impl FromStr for TraceContext {
    type Err = TraceContextError;

    fn from_str(text: &str) -> Result<Self, TraceContextError> {
        let mut fields = text.trim().split('-');
        let mut next = || fields.next().ok_or(TraceContextError);
        let (version, trace, span, flags) = (next()?, next()?, next()?, next()?);
        let [version] = parse_hex::<1>(version)?;
        // Version 00 has exactly four fields; of a higher one the first four are read; ff is invalid.
        if version == 0xff || (version == 0 && fields.next().is_some()) {
            return Err(TraceContextError);
        }
        let [flags] = parse_hex::<1>(flags)?;
        Ok(Self {
            trace_id: trace.parse()?,
            span_id: span.parse()?,
            sampled: flags & 1 == 1,
        })
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "00-{}-{}-{:02x}",
            self.trace_id,
            self.span_id,
            u8::from(self.sampled)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn the_example_of_the_specification_round_trips() {
        let context: TraceContext = EXAMPLE.parse().unwrap();
        assert_eq!(context.to_string(), EXAMPLE);
        assert!(context.sampled);
    }

    #[test]
    fn invalid_values_are_refused() {
        let zero_trace = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
        let zero_span = "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01";
        let upper = EXAMPLE.to_uppercase();
        let long = format!("{EXAMPLE}-x");
        let version_ff = format!("ff{}", &EXAMPLE[2..]);
        for bad in [
            "",
            "00",
            zero_trace,
            zero_span,
            &upper,
            &long,
            &version_ff,
            "00-4b-00-01",
        ] {
            assert!(bad.parse::<TraceContext>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_higher_version_is_read_by_its_first_four_fields() {
        let later = format!("01{}-more", &EXAMPLE[2..]);
        assert!(later.parse::<TraceContext>().is_ok());
    }
}
