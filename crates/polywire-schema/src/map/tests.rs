use proptest::prelude::*;

use super::*;

/// How many keys of one hash there are here.
const ALIKE: usize = 50;

/// Keys of one hash, as who knows it can choose them: of two words each, where the
/// second makes up for what the first comes to.
fn alike() -> Vec<String> {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let keys = (0_u64..).filter_map(|count| {
        let first = format!("{count:08}");
        let word = u64::from_le_bytes(first.as_bytes().try_into().ok()?);
        let front = (16_u64.rotate_left(29) ^ word).wrapping_mul(SPREAD);
        let second = (front.rotate_left(29) ^ 0x55).to_le_bytes();
        let second = second
            .is_ascii()
            .then(|| String::from_utf8(second.to_vec()))?;
        Some(first + &second.ok()?)
    });
    let keys: Vec<String> = keys.take(ALIKE).collect();
    assert!(keys.iter().all(|key| hash(key) == hash(&keys[0])));
    keys
}

proptest! {
    #[test]
    fn behaves_as_a_map(
        steps in proptest::collection::vec((any::<bool>(), 0..40_u32, any::<i64>()), 0..200),
    ) {
        let mut map = Map::new();
        let mut model = BTreeMap::new();
        for (add, key, value) in steps {
            let key = key.to_string();
            if add {
                let before = map.insert(key.clone(), value);
                prop_assert_eq!(before, model.insert(key, value).map(Value::from));
            } else {
                prop_assert_eq!(map.remove(&key), model.remove(&key).map(Value::from));
            }
            prop_assert_eq!(map.len(), model.len());
        }
        for (key, value) in &model {
            prop_assert_eq!(map.get(key), Some(&Value::from(*value)));
        }
        prop_assert_eq!(map.get("none"), None);
    }

    /// As the twin does, which is sorted by keys, with keys of one hash among them.
    #[test]
    fn behaves_as_a_map_of_chosen_keys(
        steps in proptest::collection::vec((0..8_u8, 0..ALIKE * 2, any::<i64>()), 0..400),
    ) {
        let alike = alike();
        let mut map = Map::new();
        let mut model = BTreeMap::new();
        for (what, key, value) in steps {
            let key = match key.checked_sub(ALIKE) {
                None => alike[key].clone(),
                Some(key) => key.to_string(),
            };
            if what > 0 {
                let before = map.insert(key.clone(), value);
                prop_assert_eq!(before, model.insert(key, value).map(Value::from));
            } else {
                prop_assert_eq!(map.remove(&key), model.remove(&key).map(Value::from));
            }
        }
        prop_assert_eq!(map.len(), model.len());
        let others = (0..ALIKE).map(|key| key.to_string());
        for key in alike.iter().cloned().chain(others) {
            let expected = model.get(&key).map(|value| Value::from(*value));
            prop_assert_eq!(map.get(&key), expected.as_ref());
        }
        let again = Map::from_iter(map.iter().map(|(key, value)| (key, value.clone())));
        prop_assert!(again.keys().eq(map.keys()));
        for (position, key) in map.keys().enumerate() {
            prop_assert_eq!(map.position(key), Some(position));
            prop_assert_eq!(again.position(key), Some(position));
        }
    }

    #[test]
    fn repeated_keys_of_one_hash_are_found(keys in proptest::collection::vec(0..ALIKE, 0..60)) {
        let alike = alike();
        let entries: Vec<_> = keys.iter()
            .map(|key| (Text::from(alike[*key].as_str()), Value::Null)).collect();
        let first_repeat = (0..keys.len()).find(|at| keys[..*at].contains(&keys[*at]));
        prop_assert_eq!(Map::from_entries(entries).err().map(|(at, _)| at), first_repeat);
    }

    #[test]
    fn repeated_keys_are_found(keys in proptest::collection::vec(0..60_u32, 0..40)) {
        let entries: Vec<_> = keys.iter()
            .map(|key| (Text::from(key.to_string()), Value::Null)).collect();
        let first_repeat = (0..keys.len()).find(|at| keys[..*at].contains(&keys[*at]));
        prop_assert_eq!(Map::from_entries(entries).err().map(|(at, _)| at), first_repeat);
    }
}

#[test]
fn of_entries_with_the_same_key_the_last_value_stands_at_the_first_place() {
    for len in [3, 1_000] {
        let entries = (0..len).map(|number| (number.to_string(), number));
        let map = Map::from_iter(entries.chain([("1".to_owned(), -1), ("0".to_owned(), -2)]));
        assert_eq!(map.len() as i64, len);
        assert_eq!(map.entries()[0], (Text::from("0"), Value::from(-2)));
        assert_eq!(map.entries()[1], (Text::from("1"), Value::from(-1)));
        assert_eq!(map.get("2"), Some(&Value::from(2)));
    }
}
