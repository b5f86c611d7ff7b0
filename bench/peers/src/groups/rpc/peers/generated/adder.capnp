@0xd3f0a7c5b1e94a62;
# What capnp-rpc is measured with: the same method as the other systems.

interface Adder {
    add @0 (left :Int32, right :Int32) -> (sum :Int32);
}
