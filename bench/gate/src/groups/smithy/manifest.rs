//! The list of the cases and their files: `bench/smithy` of the data folder.

use crate::{DataFolder, Group};

const FOLDER: &str = "bench/smithy";

/// One case of the manifest, with the contents of its files.
#[derive(Clone)]
pub struct Row {
    /// The protocol, as in `awsJson1_0`.
    pub protocol: String,
    /// The name of the case, as in `GetItemOutput_L`.
    pub name: String,
    /// Whether the case writes a request. The others read a response.
    pub writes: bool,
    /// The operation, as in `GetItem`.
    pub operation: String,
    /// The body of the message.
    pub body: &'static [u8],
    /// Whether no other case has the same name with a larger size. The manifest has the sizes
    /// `S`, `M` and `L`; targets are about the largest.
    pub largest: bool,
    /// Of a request: its first line and its headers.
    pub head: String,
    /// Of a response: its status and its headers, as JSON.
    pub response: String,
    data: DataFolder,
}

/// All cases, or the reason why there are none.
pub fn rows(group: &Group) -> Result<Vec<Row>, String> {
    if !cfg!(smithy_model) {
        return Err("the model of the cases was not there when this was built".to_owned());
    }
    let manifest = group.data(&format!("{FOLDER}/manifest.tsv"))?;
    let manifest = String::from_utf8_lossy(manifest);
    let lines = manifest.lines().skip(1);
    lines
        .map(|line| Row::new(line, &manifest, group.data_folder()))
        .collect()
}

impl Row {
    fn new(line: &str, manifest: &str, data: &DataFolder) -> Result<Self, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [
            protocol,
            name,
            direction,
            operation,
            file,
            _,
            _,
            head,
            response,
        ] = fields[..]
        else {
            return Err(format!("not a line of the manifest: {line}"));
        };
        let read = |file: &str| data.read(&format!("{FOLDER}/{file}"));
        let text = |file: &str| match file {
            "" => Ok(String::new()),
            file => Ok::<_, String>(String::from_utf8_lossy(read(file)?).into_owned()),
        };
        let largest = match name.strip_suffix("_M") {
            Some(stem) => !manifest.contains(&format!("{protocol}\t{stem}_L\t")),
            None => name.ends_with("_L"),
        };
        Ok(Self {
            protocol: protocol.to_owned(),
            name: name.to_owned(),
            writes: direction == "serialize",
            operation: operation.to_owned(),
            body: read(file)?,
            largest,
            head: text(head)?,
            response: text(response.split(' ').next().unwrap_or_default())?,
            data: data.clone(),
        })
    }

    /// What the names of the cases begin with: `awsJson1_0 GetItemOutput_L`.
    pub fn full_name(&self) -> String {
        format!("{} {}", self.protocol, self.name)
    }

    /// Whether the case has the size `M`.
    pub fn is_medium(&self) -> bool {
        self.name.ends_with("_M")
    }

    /// Whether the members of the document are in another order than in the model.
    pub fn is_permuted(&self) -> bool {
        self.name.ends_with("OutOfOrder")
    }

    /// Whether the case is one of a size, or the permuted one: those whose bodies are measured
    /// alone. The others have next to no body.
    pub fn has_body(&self) -> bool {
        !self.name.ends_with("_Baseline") && self.body.len() >= 16
    }

    /// The input of a request or the output of a response, as JSON.
    pub fn params(&self) -> Option<&'static [u8]> {
        let direction = if self.writes {
            "serialize"
        } else {
            "deserialize"
        };
        let path = format!(
            "{FOLDER}/{}/{direction}/{}.params.json",
            self.protocol, self.name
        );
        let params = self.data.read(&path).ok()?;
        if self.operation != "PutObject" {
            return Some(params);
        }
        // They contain the length of the body without its base64 encoding. Clients of ours refuse
        // to write a length that is not the body's.
        let text = std::str::from_utf8(params).ok()?;
        let lines = text
            .lines()
            .filter(|line| !line.contains("\"ContentLength\""));
        Some(lines.collect::<String>().into_bytes().leak())
    }

    /// The body of this response in JSON: that of awsJson1_0, for the protocols with its
    /// operations.
    pub fn json(&self) -> Option<&'static [u8]> {
        match self.json_of("awsJson1_0", &self.name)? {
            [] => Some(b"{}"),
            json => Some(json),
        }
    }

    /// The JSON body of a response of another protocol.
    pub fn json_of(&self, protocol: &str, name: &str) -> Option<&'static [u8]> {
        let path = format!("{FOLDER}/{protocol}/deserialize/{name}.json");
        self.data.read(&path).ok()
    }
}
