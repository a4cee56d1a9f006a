using System.Text.Json.Nodes;

namespace Ambrosia.Protocol.Tests;

/// <summary>
/// What a decoder made of some bytes: fields, a typed error (and its record's position), or a fault: an exception it must not throw.
/// </summary>
internal sealed record Outcome(JsonObject? Fields, string? Error, string? Lsn, string? Fault)
{
    public static Outcome Of(Structure structure, byte[] bytes, JsonObject context)
    {
        try
        {
            // Through text and back, so that both sides of a comparison are of the same making.
            return new Outcome(JsonNode.Parse(structure.Decode(bytes, context).ToJsonString())!.AsObject(), null, null, null);
        }
        catch (ProtocolViolation violation)
        {
            return new Outcome(null, violation.Section, violation.Lsn?.ToString(), null);
        }
        catch (CborException error)
        {
            return new Outcome(null, error.Error.ToString(), null, null);
        }
        catch (NeedMoreException)
        {
            return new Outcome(null, NeedMoreException.Error, null, null);
        }
        catch (Exception fault)
        {
            return new Outcome(null, null, null, fault.ToString());
        }
    }
}
