using Ambrosia.Protocol;

namespace Ambrosia.Suspension;

/// <summary>Describes a method that an image depends on, as the build that wrote the image had it (docs/image.md I3.1).</summary>
internal sealed record SuspendedBody(
    string Assembly, string Id, string Il, string Source, IReadOnlyList<SuspendedType> Types, IReadOnlyList<SuspendedSite> Sites)
{
    internal static SuspendedBody Read(ref CborReader from)
    {
        from.ReadArrayHeader();
        string assembly = from.ReadString(), id = from.ReadString(), il = from.ReadString(), source = from.ReadString();
        var types = new List<SuspendedType>();
        for (int left = from.ReadArrayHeader(); left > 0; left--) types.Add(ReadType(ref from));
        var sites = new List<SuspendedSite>();
        for (int left = from.ReadArrayHeader(); left > 0; left--) sites.Add(ReadSite(ref from));
        return new SuspendedBody(assembly, id, il, source, types, sites);
    }

    private static SuspendedType ReadType(ref CborReader from)
    {
        from.ReadArrayHeader();
        string role = from.ReadString();
        ulong states = from.ReadUInt64();
        var layout = new string[from.ReadArrayHeader()];
        for (int i = 0; i < layout.Length; i++) layout[i] = from.ReadString();
        return new SuspendedType(role, states, layout);
    }

    private static SuspendedSite ReadSite(ref CborReader from)
    {
        from.ReadArrayHeader();
        string role = from.ReadString();
        int state = from.ReadInt32();
        ulong count = from.ReadUInt64();
        return new SuspendedSite(role, state, count, from.ReadString());
    }
}

/// <summary>Describes what the compiler made of the method: a state machine or a closure that is in the image.</summary>
/// <param name="States">The number of awaits of a state machine.</param>
internal sealed record SuspendedType(string Role, ulong States, string[] Layout);

/// <summary>Counts what is suspended at one await of the method.</summary>
/// <param name="ForWhat">What the first of them waits for; empty: nothing that has a name.</param>
internal sealed record SuspendedSite(string Role, int State, ulong Count, string ForWhat);
