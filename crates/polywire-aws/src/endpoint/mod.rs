//! The rules that choose the endpoint of a call.
