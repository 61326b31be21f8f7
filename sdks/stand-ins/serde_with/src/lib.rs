//! Stands in for the crate of this name, which Debian does not have: the one module that the SDK uses.
pub mod rust {
    pub mod double_option {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};

        pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
            Option::deserialize(from).map(Some)
        }

        pub fn serialize<T: Serialize, S: Serializer>(value: &Option<Option<T>>, to: S) -> Result<S::Ok, S::Error> {
            value.as_ref().and_then(Option::as_ref).serialize(to)
        }
    }
}
