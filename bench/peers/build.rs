//! Generates the types and the server trait of `typed_server`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    polywire_codegen::Build::new().model("model").generate()?;
    Ok(())
}
