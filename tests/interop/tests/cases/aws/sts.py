sts = client("sts")
policy = '{"Version":"2012-10-17","Statement":[{"Sid":"a & b","Effect":"Allow"}]}'
assumed = sts.assume_role(
    RoleArn="arn:aws:iam::123456789012:role/rain", RoleSessionName="w@x=y", Policy=policy,
    DurationSeconds=900, Tags=[{"Key": "grün", "Value": "a b=c+/@"}, {"Key": "empty", "Value": ""}],
    TransitiveTagKeys=["grün"])
show({
    "assumed": bare(assumed),
    "who": bare(sts.get_caller_identity()),
    "decoded": bare(sts.decode_authorization_message(EncodedMessage="<e> & 1+1")),
    "error": caught(lambda: sts.decode_authorization_message(EncodedMessage="no")),
    "code": caught(lambda: sts.get_federation_token(Name="bob", Policy="{")),
    "invalid": caught(lambda: sts.get_session_token(DurationSeconds=900, SerialNumber="arn:?&=12345"))[:2],
})
