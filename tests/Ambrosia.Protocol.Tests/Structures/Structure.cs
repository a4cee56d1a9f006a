using System.Text.Json.Nodes;

namespace Ambrosia.Protocol.Tests;

internal delegate JsonObject Decode(ReadOnlySpan<byte> bytes, JsonObject context);

internal delegate byte[] Reencode(ReadOnlySpan<byte> bytes, JsonObject context);

/// <summary>Whether a front part of a good input may be a good input too.</summary>
internal enum Ends { Fixed, Anywhere, NotDecoded }

/// <summary>A structure of the vectors: bytes to fields, and bytes through our types and back to bytes.</summary>
internal sealed record Structure(Decode Decode, Reencode? Reencode = null, Ends Ends = Ends.Fixed);
