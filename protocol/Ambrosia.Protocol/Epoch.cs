namespace Ambrosia.Protocol;

/// <summary>
/// The fencing token of an instance. It grows by one at each change of primary; each start of a coordinator is such a change.
/// </summary>
public readonly record struct Epoch(ulong Value) : IComparable<Epoch>
{
    public Epoch Next => new(checked(Value + 1));

    public int CompareTo(Epoch other) => Value.CompareTo(other.Value);

    public static bool operator <(Epoch a, Epoch b) => a.Value < b.Value;
    public static bool operator >(Epoch a, Epoch b) => a.Value > b.Value;
    public static bool operator <=(Epoch a, Epoch b) => a.Value <= b.Value;
    public static bool operator >=(Epoch a, Epoch b) => a.Value >= b.Value;

    public override string ToString() => Value.ToString(System.Globalization.CultureInfo.InvariantCulture);
}
