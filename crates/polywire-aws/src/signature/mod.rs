//! AWS Signature Version 4 and 4A.
