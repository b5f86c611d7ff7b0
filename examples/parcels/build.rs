//! Generates types, client and server.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    polywire_codegen::Build::new().model("model").generate()?;
    Ok(())
}
