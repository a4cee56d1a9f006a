namespace Ambrosia.Protocol;

/// <summary>One instance's shard by name: the end of a channel. The shard is part of every identity even while it is always 0.</summary>
public readonly record struct InstanceId(string Name, ushort Shard = 0) : IComparable<InstanceId>
{
    public int CompareTo(InstanceId other)
    {
        int byName = string.CompareOrdinal(Name, other.Name);
        return byName != 0 ? byName : Shard.CompareTo(other.Shard);
    }

    public override string ToString() => Shard == 0 ? Name : $"{Name}/{Shard}";
}
