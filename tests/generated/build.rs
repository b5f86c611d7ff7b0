//! Generates the service of `model/`: with everything, borrowed, and with maps as vectors.

use polywire_codegen::{Build, Maps};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let build = Build::new().model("model/library.smithy");
    build.clone().registry(true).generate()?;
    let vectors = build.clone().maps(Maps::Vector);
    vectors.name("library_vectors").generate()?;
    build.borrowed(true).name("library_borrowed").generate()?;
    Ok(())
}
