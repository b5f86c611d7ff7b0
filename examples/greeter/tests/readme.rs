//! README shows what stands here, so that what README shows compiles.

#[test]
fn readme_shows_this_program_and_its_model() {
    let readme = include_str!("../../../README.md");
    let model = include_str!("../src/greeter.smithy");
    let program = include_str!("../src/main.rs");
    let (_, shown) = program.split_once("\n\n").unwrap();
    assert!(readme.contains(model), "README has another model");
    assert!(readme.contains(shown.trim()), "README has another program");
}
