using Ambrosia.Protocol;

namespace Ambrosia.Binding.Tests;

public interface IDoubtful
{
    [MethodId(1)]
    void Hold(int what);
}

/// <summary>What comes back of it is said by its kind.</summary>
[StateSerializer(typeof(OpaqueSerializer))]
public sealed class Opaque(int kind, int value = 0)
{
    internal const int Sound = 0, Other = 1, Throwing = 2, Counted = 3;

    /// <summary>How many of the kind that is counted were read on this thread.</summary>
    [ThreadStatic]
    internal static int Reads;

    internal int Kind => kind;

    internal int Value => value;
}

/// <summary>Reads something else than was written, or nothing at all.</summary>
public sealed class OpaqueSerializer : IStateSerializer<Opaque>
{
    public void Write(ref CborWriter to, Opaque value) => to.WriteInt64(value.Kind + 10 * value.Value);

    public Opaque Read(ref CborReader from)
    {
        int read = from.ReadInt32(), kind = read % 10;
        if (kind == Opaque.Throwing) throw new FormatException("no such opaque thing");
        if (kind == Opaque.Counted) Opaque.Reads++;
        return new Opaque(kind, read / 10 + (kind == Opaque.Other ? 1 : 0));
    }
}

/// <summary>A key of which a part that counts in its equality is left out of images.</summary>
public sealed class Partial(int number, string name)
{
#pragma warning disable AMB134 // what a restore leaves out is tested
    [NotState] private readonly string? _name = name;

    public override bool Equals(object? obj) => obj is Partial other && other._name == _name && other.Number == Number;

    public override int GetHashCode() => _name?.Length ?? 0;

    private int Number { get; } = number;
}

/// <summary>Its state comes back or does not.</summary>
public sealed partial class Doubtful : Immortal<IDoubtfulProxy>, IDoubtful
{
    internal object? Held;
    internal HashSet<Partial> Keys { get; } = [];

    public void Hold(int what)
    {
        Keys.Clear();
        Held = what <= Opaque.Counted ? new Opaque(what) : null;
        if (what > Opaque.Counted) Keys.UnionWith([new Partial(1, "a"), new Partial(1, "b")]);
    }
}
