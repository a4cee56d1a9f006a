using System.Text.Json.Nodes;

namespace Ambrosia.Protocol.Tests;

/// <summary>
/// One entry of a vector file; protocol/vectors/README.md describes the fields. Exactly one of Expect and Error is there.
/// </summary>
internal sealed record Vector(
    string File, string Name, string Structure, string Section, byte[] Bytes, JsonObject Context, JsonObject? Expect,
    string? Error, string? Lsn)
{
    public override string ToString() => $"{File}.json, {Structure}, \"{Name}\" ({Section})";
}
