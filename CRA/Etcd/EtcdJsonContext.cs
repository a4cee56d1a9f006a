using System.Text.Json.Serialization;

namespace CRA.Etcd;

/// <summary>
/// It asks for the keys from one to another; without the other, for one key. It and the types below are the requests and answers of etcd's
/// JSON gateway, as far as a catalog uses them. The gateway writes 64-bit numbers as texts.
/// </summary>
internal sealed record RangeRequest(
    [property: JsonPropertyName("key")] byte[] Key,
    [property: JsonPropertyName("range_end")] byte[]? RangeEnd = null,
    [property: JsonPropertyName("limit")] long Limit = 0,
    [property: JsonPropertyName("revision")] long Revision = 0,
    [property: JsonPropertyName("keys_only")] bool IsKeysOnly = false);

/// <summary>It is what a range of keys holds, in their order.</summary>
internal sealed record RangeResponse(
    [property: JsonPropertyName("header")] ResponseHeader? Header,
    [property: JsonPropertyName("kvs")] KeyValue[]? Values,
    [property: JsonPropertyName("more")] bool HasMore);

/// <summary>It stands before every answer of a cluster that works.</summary>
internal sealed record ResponseHeader([property: JsonPropertyName("revision")] long Revision);

/// <summary>It is one key with its value; etcd leaves out what is empty or zero.</summary>
internal sealed record KeyValue(
    [property: JsonPropertyName("key")] byte[]? Key,
    [property: JsonPropertyName("value")] byte[]? Value,
    [property: JsonPropertyName("mod_revision")] long ModRevision);

/// <summary>It asks for some operations to be made together, if all comparisons hold.</summary>
internal sealed record TxnRequest(
    [property: JsonPropertyName("compare")] Comparison[] Compare, [property: JsonPropertyName("success")] Operation[] Success);

/// <summary>It compares one revision of a key: that of its last change, or, for a key that must not exist, that of its creation.</summary>
internal sealed record Comparison(
    [property: JsonPropertyName("key")] byte[] Key,
    [property: JsonPropertyName("target")] string Target,
    [property: JsonPropertyName("mod_revision")] long? ModRevision,
    [property: JsonPropertyName("create_revision")] long? CreateRevision)
{
    [JsonPropertyName("result")]
    public string Result => "EQUAL";
}

/// <summary>It is one operation: exactly one of its members is set.</summary>
internal sealed record Operation(
    [property: JsonPropertyName("request_put")] PutRequest? Put = null,
    [property: JsonPropertyName("request_delete_range")] RangeRequest? Delete = null);

/// <summary>It sets the value of a key.</summary>
internal sealed record PutRequest([property: JsonPropertyName("key")] byte[] Key, [property: JsonPropertyName("value")] byte[] Value);

/// <summary>It says whether the comparisons held, and so whether the operations were made.</summary>
internal sealed record TxnResponse(
    [property: JsonPropertyName("header")] ResponseHeader? Header, [property: JsonPropertyName("succeeded")] bool HasSucceeded);

/// <summary>It asks for a token for a user.</summary>
internal sealed record AuthenticateRequest(
    [property: JsonPropertyName("name")] string Name, [property: JsonPropertyName("password")] string Password);

/// <summary>It brings the token, which stands in the header of every request from then on.</summary>
internal sealed record AuthenticateResponse([property: JsonPropertyName("token")] string? Token);

/// <summary>It is the answer to a request that failed.</summary>
internal sealed record ErrorResponse(
    [property: JsonPropertyName("error")] string? Error,
    [property: JsonPropertyName("message")] string? Message,
    [property: JsonPropertyName("code")] int Code);

/// <summary>It says which etcd answers.</summary>
internal sealed record VersionResponse([property: JsonPropertyName("etcdserver")] string? Server);

[JsonSourceGenerationOptions(
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingDefault,
    NumberHandling = JsonNumberHandling.AllowReadingFromString | JsonNumberHandling.WriteAsString, MaxDepth = 16)]
[JsonSerializable(typeof(RangeRequest))]
[JsonSerializable(typeof(RangeResponse))]
[JsonSerializable(typeof(TxnRequest))]
[JsonSerializable(typeof(TxnResponse))]
[JsonSerializable(typeof(AuthenticateRequest))]
[JsonSerializable(typeof(AuthenticateResponse))]
[JsonSerializable(typeof(ErrorResponse))]
[JsonSerializable(typeof(VersionResponse))]
internal sealed partial class EtcdJsonContext : JsonSerializerContext;
