//! One level of a JSON object, its values as they were written.
//!
//! A guard must not be switched off by what a model puts into some other field. `serde_json` refuses a whole document
//! for a lone surrogate in any string and for values nested too deep; both can stand in a prompt that the client has
//! passed on. Here only the values that decide are read, and the others are skipped as text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of an object in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawObject<'a>(Vec<(String, &'a RawValue)>);

impl<'a> RawObject<'a> {
    /// Reads `text` as one object.
    pub(crate) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The value of a field; of a name that stands twice the last counts, as in the client's own parser.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let mut from_end = self.0.iter().rev();
        from_end.find(|(field, _)| field == name).map(|(_, value)| *value)
    }

    /// The string in a field; none where it is missing or no string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(text_of)
    }

    /// Whether a field is the boolean `value` itself.
    pub(crate) fn is_boolean(&self, name: &str, value: bool) -> bool {
        let word = if value { "true" } else { "false" };
        self.get(name).is_some_and(|raw| raw.get() == word)
    }

    /// The names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// The string that a value is; what is no Unicode in it is replaced.
pub(crate) fn text_of(raw: &RawValue) -> Option<String> {
    serde_json::from_str::<Lossy>(raw.get()).ok().map(|text| text.0)
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = RawObject<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut fields = Vec::new();
        while let Some(Lossy(name)) = map.next_key()? {
            fields.push((name, map.next_value()?));
        }
        Ok(RawObject(fields))
    }
}

impl<'de> Deserialize<'de> for RawObject<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

/// A string in which lone surrogates are no error.
struct Lossy(String);

struct LossyText;

impl Visitor<'_> for LossyText {
    type Value = Lossy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Lossy, E> {
        Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Lossy, E> {
        Ok(Lossy(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(LossyText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_beside_what_other_parsers_refuse() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(r#" {{"p":"\ud800 x","deep":{deep},"\udfff":1,"a":"b","n":7,"f":false,"a":"c"}} "#);
        let object = RawObject::parse(&text).unwrap();
        assert_eq!(object.text("a").as_deref(), Some("c"));
        assert_eq!(object.text("p").as_deref(), Some("\u{fffd}\u{fffd}\u{fffd} x"));
        assert_eq!((object.text("n"), object.text("none")), (None, None));
        assert!(object.is_boolean("f", false) && !object.is_boolean("f", true) && !object.is_boolean("n", false));
        assert_eq!(object.names().count(), 7);
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for text in [
            "",
            "null",
            "[]",
            "\"x\"",
            "{",
            "{} {}",
            "{\"a\":}",
            "{a:1}",
            "{\"a\":1,}",
        ] {
            assert!(RawObject::parse(text).is_err(), "{text}");
        }
    }
}
