//! Quoted strings, keys and booleans: the pieces of JSON that formats of their own are made of.
