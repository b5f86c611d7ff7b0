//! Macros of this crate.

/// Implements `Debug` for a type with fields that are secret, large or not `Debug`. The output has the listed fields and
/// ends with `..`: `impl_debug!(Rate { limit })`, or with other values `impl_debug!(|this| Rate { limit: this.limit() })`.
macro_rules! impl_debug {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl_debug!(|this| $type { $($field: this.$field),* });
    };
    (|$this:ident| $type:ident { $($name:ident: $value:expr),* $(,)? }) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                #[allow(unused_variables, reason = "a type may show no field")]
                let $this = self;
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($name), &$value))*
                    .finish_non_exhaustive()
            }
        }
    };
}
