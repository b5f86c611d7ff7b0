//! Generates types, client and server of `model/ledger.smithy`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    polywire_codegen::Build::new()
        .model("model/ledger.smithy")
        .generate()?;
    Ok(())
}
