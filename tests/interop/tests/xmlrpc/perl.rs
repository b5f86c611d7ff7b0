//! Perl's RPC::XML.

use polywire::codec::json;
use polywire::schema::Value;
use polywire_interop::{Case, Sample};

/// Runs a script against the sample server. `$server` is a client, and `call` returns a result or a
/// fault.
fn perl(case: &Case, script: &str) -> Option<Value> {
    let perl = case.perl()?;
    let server = Sample::start();
    let script = format!(
        "our $server = RPC::XML::Client->new($url);
        sub call {{ answer($server->send_request(@_)) }}
        {script}"
    );
    let text = perl.print(&server.url, &script);
    Some(json::read_value(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

fn json(text: &str) -> Value {
    json::read_value(text).unwrap()
}

#[test]
fn perl_calls_methods_of_every_type() {
    let case = Case::begin("perl_calls_methods_of_every_type");
    let script = r"
my $bytes = call('sample.bytes');
show([
    call('sample.add', 2, 3), call('sample.divide', 1, 0), call('sample.sum', [1 .. 100]),
    call('sample.person'), call('sample.greet', { name => 'Bo', age => 5, tags => [] }),
    call('sample.nothing'), call('sample.date'), length($bytes),
    $bytes eq join('', map { chr($_ % 256) } 0 .. 999) ? 1 : 0,
    length(call('sample.text', 100000)), call('sample.big'), call('sample.beyond'),
    call('sample.emoji'), call('sample.double') . '',
])";
    let Some(answers) = perl(&case, script) else {
        return;
    };
    let expected = r#"["5",{"code":"7","text":"division by zero"},"5050",
        {"name":"Ada Łovelace","age":"36","tags":["<first>","& only"]},
        "Bo is 5",null,"20261101T09:44:05",1000,1,100000,
        "9007199254740993","3000000000","a🌧z","0.1"]"#;
    assert_eq!(answers, json(expected));
}

#[test]
fn perl_gets_back_what_it_sends() {
    let case = Case::begin("perl_gets_back_what_it_sends");
    let script = r#"
use utf8;
$RPC::XML::ENCODING = 'utf-8';
$RPC::XML::ALLOW_NIL = 1;
my @values = (
    RPC::XML::int->new(-1), RPC::XML::i4->new(5), RPC::XML::i8->new('9223372036854775807'),
    RPC::XML::double->new(0.5), RPC::XML::boolean->new(1), RPC::XML::string->new(' ö <&> 🌧 '),
    RPC::XML::base64->new(join '', map { chr } 0 .. 255), RPC::XML::nil->new(),
    RPC::XML::datetime_iso8601->new('20261101T05:44:05'), RPC::XML::array->new(),
    RPC::XML::struct->new(a => RPC::XML::array->new(1, 'two')),
);
sub text { my $it = shift; ref $it eq 'ARRAY' ? [map { text($_) } @$it]
    : ref $it eq 'HASH' ? { map { $_ => text($it->{$_}) } keys %$it } : defined $it ? "$it" : undef }
my @wrong = grep {
    my ($sent, $got) = ($values[$_], $server->send_request('echo', $values[$_]));
    !ref $got || $json->encode(text([$sent->value])) ne $json->encode(text([$got->value]))
        || (ref $sent ne ref $got && ref $sent !~ /int|i4/)
} 0 .. $#values;
show([@wrong])"#;
    let Some(wrong) = perl(&case, script) else {
        return;
    };
    assert_eq!(wrong, json("[]"));
}

#[test]
fn perl_multicall_and_introspection() {
    let case = Case::begin("perl_multicall_and_introspection");
    let script = r"
my $names = call('system.listMethods');
show([
    scalar(grep { $_ eq 'sample.add' } @$names), call('system.methodHelp', 'sample.add'),
    call('system.methodSignature', 'sample.add'),
    call('system.multicall', [
        { methodName => 'sample.add', params => [2, 3] },
        { methodName => 'sample.divide', params => [1, 0] },
        { methodName => 'nowhere', params => [] },
        { methodName => 'sample.person', params => [] },
    ]),
])";
    let Some(answer) = perl(&case, script) else {
        return;
    };
    assert_eq!(answer[0].as_i64(), Some(1), "{answer:?}");
    assert_eq!(answer[1].as_str(), Some("Adds two numbers."));
    assert_eq!(answer[2], json(r#"[["int","int","int"]]"#));
    let results = &answer[3];
    assert_eq!(results[0], json(r#"["5"]"#), "{answer:?}");
    assert_eq!(
        results[1],
        json(r#"{"faultCode":"7","faultString":"division by zero"}"#)
    );
    assert_eq!(results[2]["faultCode"].as_str(), Some("-32601"));
    assert_eq!(results[3][0]["age"].as_str(), Some("36"));
}

#[test]
fn perl_sends_and_reads_long_text() {
    let case = Case::begin("perl_sends_and_reads_long_text");
    let script = r"
my $text = 'words & ' x 10000;
show([call('sample.length', $text), call('echo', $text) eq $text ? 'same' : 'other'])";
    let Some(answer) = perl(&case, script) else {
        return;
    };
    assert_eq!(answer, json(r#"["80000","same"]"#));
}
