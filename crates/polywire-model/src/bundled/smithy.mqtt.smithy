// MQTT topics.
$version: "2.0"

namespace smithy.mqtt

@protocolDefinition
@trait(selector: "service")
structure mqttJson {}

@pattern("^[^#+]+$")
@traitValidators(
    "MqttPublishInput.NoEventStreams": { selector: "-[input]-> structure > member :test(> union [trait|streaming])" }
    MqttUnsupportedErrors: { selector: ":test(-[error]->)", severity: "DANGER" }
)
@trait(
    selector: "operation :not(-[output]-> * > member)"
    conflicts: [subscribe]
    breakingChanges: [{ change: "any" }]
)
string publish

@pattern("^[^#+]+$")
@traitValidators(
    "MqttSubscribeInput.MissingTopicLabel": { selector: "-[input]-> structure > member :not([trait|smithy.mqtt#topicLabel])" }
    MqttUnsupportedErrors: { selector: ":test(-[error]->)", severity: "DANGER" }
    "MqttSubscribeOutput.MissingEventStream": { selector: ":test(-[output]-> :not(> member > union [trait|streaming]))" }
    "MqttSubscribeOutput.EventHeaderNotSupported": {
        selector: "-[output]-> structure > member > union [trait|streaming] > member > structure > member [trait|eventHeader]"
        severity: "DANGER"
    }
    "MqttSubscribeOutput.NoInitialEvents": { selector: ":test(-[output]-> structure > member :not(> union [trait|streaming]))" }
)
@trait(
    selector: "operation :test(-[output]->)"
    conflicts: [publish]
    breakingChanges: [{ change: "any" }]
)
string subscribe

@trait(
    selector: "member[trait|required] :test(> :test(string, byte, short, integer, long, boolean, timestamp))"
)
structure topicLabel {}
