//! HTTPS with client certificates, from Python.

use polywire::rpc::tls::{ClientCertificates, Pem, ServerTls};
use polywire_interop::{Case, Folder, Sample};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// Writes a certificate authority and certificates that it signs to a folder as PEM files:
/// `ca.pem`, and a certificate and a key for each name.
fn certificates(folder: &Folder, names: &[&str]) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    // OpenSSL takes a certificate with the name of its issuer for a self-signed one.
    params
        .distinguished_name
        .push(DnType::CommonName, "authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&key).unwrap();
    std::fs::write(folder.file("ca.pem"), authority.pem()).unwrap();
    let issuer = Issuer::new(params, key);
    for name in names {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![(*name).to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, *name);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        std::fs::write(folder.file(&format!("{name}.pem")), certificate.pem()).unwrap();
        std::fs::write(folder.file(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }
}

#[test]
fn https_from_python_with_a_client_certificate() {
    let case = Case::begin("https_from_python_with_a_client_certificate");
    let Some(python) = case.python(&["xmlrpc.client", "ssl"]) else {
        return;
    };
    let (folder, strangers) = (Folder::new(), Folder::new());
    certificates(&folder, &["localhost", "caller"]);
    certificates(&strangers, &["stranger"]);
    let own = Pem::file(folder.file("localhost.pem"));
    let tls = ServerTls::builder(own, Pem::file(folder.file("localhost.key")))
        .clients(
            ClientCertificates::Required,
            Pem::file(folder.file("ca.pem")),
        )
        .build()
        .unwrap();
    let server = Sample::over_tls(tls);
    let script = "
import ssl
def context(certificate, version=None):
    context = ssl.create_default_context(cafile='FOLDER/ca.pem')
    if version:
        context.maximum_version = version
    if certificate:
        context.load_cert_chain(certificate + '.pem', certificate + '.key')
    return context
def call(context):
    server = xmlrpc.client.ServerProxy(url, context=context)
    try:
        return [server.sample.add(2, 3), server.sample.length('ö' * 100000)]
    except OSError:
        return 'refused'
show([call(context('FOLDER/caller')), call(context('FOLDER/caller', ssl.TLSVersion.TLSv1_2)),
      call(context(None)), call(context('STRANGERS/stranger')), call(ssl.create_default_context())])
"
    .replace("FOLDER", folder.0.to_str().unwrap())
    .replace("STRANGERS", strangers.0.to_str().unwrap());
    let shown = python.print(&server.url, &script);
    let expected = "[[5, 100000], [5, 100000], \"refused\", \"refused\", \"refused\"]\n";
    assert_eq!(shown, expected);
}
