//! Rules about files, and about limits.

crate::rules::rules! {
    in ALL_FILES;

    EMPTY_FILE: "EmptyFile" [Warning],
        "empty file",
        "A file with the extension `.smithy` has content.",
        "Write the model, or delete the file.",
        none;
    LINK_OUT: "LinkOut" [Warning],
        "symbolic link out of the folder of the model",
        "Symbolic links to folders lead to folders inside of the folder of the model. Other links are not followed.",
        "Name the target of the link as a model path of its own.",
        none;
    NO_MODEL: "NoModel" [Warning],
        "JAR without a model",
        "A JAR has model files below `META-INF/smithy`, listed in its manifest there.",
        "Remove the JAR from the model paths, or add the files to its manifest.",
        none;
    SELECTOR_WORK: "SelectorWork" [Error],
        "selector that takes too much work",
        "The selectors of traits, `@idRef` and validators have a budget of work together. The rest of the check is skipped when it is spent.",
        "Write a selector that visits fewer shapes: select by type first, and avoid `~>` and `<` on large sets.",
        none;
    TOO_DEEP: "TooDeep" [Error],
        "values nested too deeply",
        "Values nest at most 128 levels deep.",
        "Flatten the value.",
        none;
    TOO_MANY_MEMBERS: "TooManyMembers" [Error],
        "too many members from mixins",
        "The number of members that mixins add to the shapes of a model is bounded.",
        "Use fewer mixins, or mixins with fewer members.",
        none;
    TOO_MANY_OPERATIONS: "TooManyOperations" [Warning],
        "a check ended early",
        "Some checks compare all services, resources and operations with each other. Their work is bounded, and the rest of the check is skipped when the bound is reached.",
        "Check the services one at a time.",
        none;
    TOO_MANY_PROBLEMS: "TooManyProblems" [Error, Warning],
        "more findings than are shown",
        "At most 1000 findings are shown, and the rest is counted. It is an error if one of the rest is an error.",
        "Fix the findings that are shown first.",
        none;
    TOO_MANY_REFERENCES: "TooManyReferences" [Error],
        "too many references from mixins",
        "The number of references to other shapes, such as the errors of operations, that mixins add to a model is bounded.",
        "Use fewer mixins, or mixins with fewer references.",
        none;
    TOO_MANY_TRAITS: "TooManyTraits" [Error],
        "too many traits",
        "The number of traits of one shape is bounded, and so is the number of traits that mixins add to a model.",
        "Use fewer traits or mixins.",
        none;
    UNREADABLE: "Unreadable" [Error],
        "file that cannot be read",
        "Each model path is a file or folder that can be read. Files are UTF-8 text with a Smithy model, or JARs.",
        "Correct the path, or the file.",
        none;
    VERSION_LOSS: "VersionLoss" [Warning, Note],
        "not expressible in Smithy 1.0",
        "The writer of Smithy 1.0 JSON AST reports what Smithy 1.0 cannot express. Models that are only read do not have this finding.",
        "Write Smithy 2.0, or accept the loss.",
        none;
}
