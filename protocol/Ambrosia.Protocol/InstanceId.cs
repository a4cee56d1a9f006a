namespace Ambrosia.Protocol;

/// <summary>
/// The identity of one end of a channel: an instance's name and a shard of it. The shard is part of every identity although today it is
/// always 0, so that sharding needs no change of the format.
/// </summary>
public readonly record struct InstanceId(string Name, ushort Shard = 0) : IComparable<InstanceId>
{
    public int CompareTo(InstanceId other)
    {
        int byName = string.CompareOrdinal(Name, other.Name);
        return byName != 0 ? byName : Shard.CompareTo(other.Shard);
    }

    public override string ToString() => Shard == 0 ? Name : $"{Name}/{Shard}";
}
