//! The object store as a program: `cargo run -p object-store -- --listen 127.0.0.1:9000 --data DIRECTORY`.

#[cfg(s3_model)]
mod program;

#[cfg(s3_model)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    program::run()
}

#[cfg(not(s3_model))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    Err(
        "built without S3's model, which is Amazon's and not in this repository. Get \
         models/s3/service/2006-03-01/s3-2006-03-01.json of \
         https://github.com/aws/api-models-aws and name it: POLYWIRE_S3_MODEL=FILE cargo ..."
            .into(),
    )
}
