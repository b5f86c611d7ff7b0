//! xmlrpc-c as a peer: Debian's shared library, opened at run time, so that this package builds where
//! `libxmlrpc-core-c3` is not installed.
//!
//! It reads a call or a response into the library's own tree, and writes one from it. Declarations
//! follow the headers `base.h` and `util.h` of version 1.33, whose binary interface is that of all
//! libraries named `libxmlrpc.so.3`.

#![allow(unsafe_code, reason = "calls of a C library; each block has its proof")]

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use libloading::Library;

const FILE: &str = "libxmlrpc.so.3";

/// `xmlrpc_env`: whether a call failed, and its message.
#[repr(C)]
struct Env {
    fault_occurred: c_int,
    fault_code: c_int,
    fault_string: *mut c_char,
}

/// `xmlrpc_value`, which is opaque.
#[repr(C)]
struct RawValue([u8; 0]);

/// `xmlrpc_mem_block`, which is opaque.
#[repr(C)]
struct RawBlock([u8; 0]);

type ParseCall =
    unsafe extern "C" fn(*mut Env, *const c_char, usize, *mut *const c_char, *mut *mut RawValue);
type ParseResponse = unsafe extern "C" fn(
    *mut Env,
    *const c_char,
    usize,
    *mut *mut RawValue,
    *mut c_int,
    *mut *const c_char,
);
type SerializeCall = unsafe extern "C" fn(*mut Env, *mut RawBlock, *const c_char, *mut RawValue);
type SerializeResponse = unsafe extern "C" fn(*mut Env, *mut RawBlock, *mut RawValue);

/// The functions of the library.
#[derive(Clone, Copy)]
struct Functions {
    init: unsafe extern "C" fn(*mut Env),
    env_init: unsafe extern "C" fn(*mut Env),
    env_clean: unsafe extern "C" fn(*mut Env),
    parse_call: ParseCall,
    parse_response: ParseResponse,
    serialize_call: SerializeCall,
    serialize_response: SerializeResponse,
    release: unsafe extern "C" fn(*mut RawValue),
    free_text: unsafe extern "C" fn(*const c_char),
    new_block: unsafe extern "C" fn(*mut Env, usize) -> *mut RawBlock,
    free_block: unsafe extern "C" fn(*mut RawBlock),
    block_size: unsafe extern "C" fn(*const RawBlock) -> usize,
    block_contents: unsafe extern "C" fn(*const RawBlock) -> *const c_char,
}

/// The library, opened and ready. It stays open until the program ends.
pub(crate) struct XmlRpcC {
    functions: Functions,
}

/// A tree of the library's values: the parameters of a call, or a result. Dropping it releases it.
pub(crate) struct Tree {
    raw: NonNull<RawValue>,
    functions: Functions,
}

impl XmlRpcC {
    /// Opens the library, once. The error names the package to install.
    pub(crate) fn open() -> Result<&'static Self, String> {
        static LIBRARY: OnceLock<Result<XmlRpcC, String>> = OnceLock::new();
        LIBRARY
            .get_or_init(Self::load)
            .as_ref()
            .map_err(Clone::clone)
    }

    fn load() -> Result<Self, String> {
        let missing = |error: libloading::Error| {
            format!("xmlrpc-c cannot be used ({error}); package libxmlrpc-core-c3")
        };
        // SAFETY: opening a library runs its initialisers. Those of libxmlrpc and
        // of what it depends on set up their own tables and assume nothing.
        let library = unsafe { Library::new(FILE) }.map_err(missing)?;
        // The functions outlive every borrow of the handle.
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY (of the macro's use below): the type that each name is given is
        // that of its declaration in base.h and util.h. The functions are
        // `extern "C"` without unwinding, `size_t` is `usize` and an enum or
        // `int` is `c_int` on every platform that Debian builds the package for.
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: see above.
                *unsafe { library.get($name) }.map_err(missing)?
            };
        }
        let functions = Functions {
            init: function!("xmlrpc_init"),
            env_init: function!("xmlrpc_env_init"),
            env_clean: function!("xmlrpc_env_clean"),
            parse_call: function!("xmlrpc_parse_call"),
            parse_response: function!("xmlrpc_parse_response2"),
            serialize_call: function!("xmlrpc_serialize_call"),
            serialize_response: function!("xmlrpc_serialize_response"),
            release: function!("xmlrpc_DECREF"),
            free_text: function!("xmlrpc_strfree"),
            new_block: function!("xmlrpc_mem_block_new"),
            free_block: function!("xmlrpc_mem_block_free"),
            block_size: function!("xmlrpc_mem_block_size"),
            block_contents: function!("xmlrpc_mem_block_contents"),
        };
        // SAFETY: `init` wants a valid environment, which `with_env` makes, and to
        // be called before the others and by one thread: only the one that fills
        // the `OnceLock` comes here.
        functions.with_env(|env| unsafe { (functions.init)(env) })?;
        Ok(Self { functions })
    }

    /// Reads a call of `method`: its parameters, as the library's array.
    pub(crate) fn read_call(&self, xml: &[u8], method: &CStr) -> Result<Tree, String> {
        let functions = self.functions;
        let mut name: *const c_char = ptr::null();
        let mut raw = ptr::null_mut();
        // SAFETY: the library reads `xml.len()` bytes and keeps none of them; both
        // results are ours to write, and are only read when it reported no fault.
        functions.with_env(|env| unsafe {
            (functions.parse_call)(
                env,
                xml.as_ptr().cast(),
                xml.len(),
                &raw mut name,
                &raw mut raw,
            );
        })?;
        let tree = Tree::new(raw, functions)?;
        // SAFETY: without a fault `name` is a string that ends in a NUL and is ours
        // to give back, which happens once, behind its last use.
        let same = unsafe {
            let same = CStr::from_ptr(name) == method;
            (functions.free_text)(name);
            same
        };
        same.then_some(tree)
            .ok_or_else(|| "another method".to_owned())
    }

    /// Reads a response with a result.
    pub(crate) fn read_response(&self, xml: &[u8]) -> Result<Tree, String> {
        let functions = self.functions;
        let mut raw = ptr::null_mut();
        let mut fault: *const c_char = ptr::null();
        let mut code = 0;
        // SAFETY: as for a call; of the three results only those are read that the
        // library reports as set.
        functions.with_env(|env| unsafe {
            (functions.parse_response)(
                env,
                xml.as_ptr().cast(),
                xml.len(),
                &raw mut raw,
                &raw mut code,
                &raw mut fault,
            );
        })?;
        if !fault.is_null() {
            // SAFETY: a fault's string is ours to give back; no result was made.
            unsafe { (functions.free_text)(fault) };
            return Err(format!("a fault, {code}"));
        }
        Tree::new(raw, functions)
    }

    /// Writes a call and shows its bytes before they are given back.
    pub(crate) fn write_call<T>(
        &self,
        method: &CStr,
        parameters: &Tree,
        see: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, String> {
        let functions = self.functions;
        // SAFETY: the block is one that `write` made, the method ends in a NUL, and
        // `parameters` holds a count of its value while it is borrowed.
        self.write(see, |env, block| unsafe {
            (functions.serialize_call)(env, block, method.as_ptr(), parameters.raw.as_ptr());
        })
    }

    /// Writes a response and shows its bytes before they are given back.
    pub(crate) fn write_response<T>(
        &self,
        result: &Tree,
        see: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, String> {
        let functions = self.functions;
        // SAFETY: as for a call.
        self.write(see, |env, block| unsafe {
            (functions.serialize_response)(env, block, result.raw.as_ptr());
        })
    }

    /// Lets `fill` write into a new block of memory.
    fn write<T>(
        &self,
        see: impl FnOnce(&[u8]) -> T,
        fill: impl FnOnce(*mut Env, *mut RawBlock),
    ) -> Result<T, String> {
        let functions = self.functions;
        let mut block = ptr::null_mut();
        // SAFETY: the environment is valid, and a block of no bytes may be asked for.
        functions.with_env(|env| block = unsafe { (functions.new_block)(env, 0) })?;
        if block.is_null() {
            return Err("no memory".to_owned());
        }
        let seen = functions.with_env(|env| fill(env, block)).map(|()| {
            // SAFETY: the block holds `size` initialized bytes, which do not change while `bytes`
            // is borrowed.
            let bytes = unsafe {
                let (start, size) = (
                    (functions.block_contents)(block),
                    (functions.block_size)(block),
                );
                if size == 0 {
                    &[]
                } else {
                    std::slice::from_raw_parts(start.cast::<u8>(), size)
                }
            };
            see(bytes)
        });
        // SAFETY: the block is ours, and nothing refers to it any more.
        unsafe { (functions.free_block)(block) };
        seen
    }
}

impl Functions {
    /// Runs `work` with an environment and takes its fault, if it has one.
    fn with_env(self, work: impl FnOnce(*mut Env)) -> Result<(), String> {
        let mut env = Env {
            fault_occurred: 0,
            fault_code: 0,
            fault_string: ptr::null_mut(),
        };
        // SAFETY: `env` has the layout of `xmlrpc_env` and is ours to initialise.
        unsafe { (self.env_init)(&raw mut env) };
        work(&raw mut env);
        let failed = env.fault_occurred != 0;
        let words = if failed && !env.fault_string.is_null() {
            // SAFETY: the string of a fault ends in a NUL and lives until the
            // environment is cleaned.
            let words = unsafe { CStr::from_ptr(env.fault_string) };
            words.to_string_lossy().into_owned()
        } else {
            String::new()
        };
        // SAFETY: it was initialised above and is not used again.
        unsafe { (self.env_clean)(&raw mut env) };
        if failed { Err(words) } else { Ok(()) }
    }
}

impl Tree {
    fn new(raw: *mut RawValue, functions: Functions) -> Result<Self, String> {
        let raw = NonNull::new(raw).ok_or("no value")?;
        Ok(Self { raw, functions })
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // SAFETY: the value came from the library with one count for us, which is
        // given back here and nowhere else.
        unsafe { (self.functions.release)(self.raw.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &[u8] = b"<methodCall><methodName>echo</methodName><params><param><value>\
        <int>7</int></value></param></params></methodCall>";
    const RESPONSE: &[u8] = b"<methodResponse><params><param><value><string>a&amp;b</string>\
        </value></param></params></methodResponse>";

    fn library() -> Option<&'static XmlRpcC> {
        match XmlRpcC::open() {
            Ok(library) => Some(library),
            Err(reason) => {
                println!("skipped: {reason}");
                None
            }
        }
    }

    #[test]
    fn what_is_read_is_written_again() {
        let Some(library) = library() else { return };
        let call = library.read_call(CALL, c"echo").unwrap();
        let again = library.write_call(c"echo", &call, <[u8]>::to_vec).unwrap();
        let again = String::from_utf8(again).unwrap();
        assert!(again.contains("<value><i4>7</i4></value>"), "{again}");
        let response = library.read_response(RESPONSE).unwrap();
        let again = library.write_response(&response, <[u8]>::to_vec).unwrap();
        let again = String::from_utf8(again).unwrap();
        assert!(again.contains("<string>a&amp;b</string>"), "{again}");
    }

    #[test]
    fn mistakes_are_errors() {
        let Some(library) = library() else { return };
        assert!(library.read_call(CALL, c"other").is_err());
        assert!(library.read_call(b"<methodCall>", c"echo").is_err());
        assert!(library.read_response(CALL).is_err());
        let fault = b"<methodResponse><fault><value><struct><member><name>faultCode</name>\
            <value><int>4</int></value></member><member><name>faultString</name><value>\
            <string>no</string></value></member></struct></value></fault></methodResponse>";
        let error = library.read_response(fault).err().unwrap();
        assert_eq!(error, "a fault, 4");
    }
}
