//! Generates the service of `model/`, once with everything and once borrowed.

use polywire_codegen::Build;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let build = Build::new().model("model/library.smithy");
    build.clone().registry(true).generate()?;
    build.borrowed(true).name("library_borrowed").generate()?;
    Ok(())
}
