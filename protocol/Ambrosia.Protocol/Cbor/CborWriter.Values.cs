namespace Ambrosia.Protocol;

/// <summary>The values of P4.3 that are made of several items or have a type of their own.</summary>
public ref partial struct CborWriter
{
    /// <summary>Tag 37 and 16 bytes, big-endian.</summary>
    public void WriteGuid(Guid value)
    {
        WriteTag(CborMajor.UuidTag);
        Head(CborMajor.Bytes, 16);
        value.TryWriteBytes(_target.Reserve(16), bigEndian: true, out int size);
        _target.Advance(size);
    }

    /// <summary>Four 32-bit integers: low, middle and high part of the number, then sign and scale.</summary>
    public void WriteDecimal(decimal value)
    {
        Span<int> parts = stackalloc int[4];
        decimal.GetBits(value, parts);
        WriteArrayHeader(parts.Length);
        foreach (int part in parts) WriteInt64(part);
    }

    /// <summary>Ticks of 100 ns since year 1 and the kind.</summary>
    public void WriteDateTime(DateTime value)
    {
        WriteArrayHeader(2);
        WriteInt64(value.Ticks);
        WriteInt64((int)value.Kind);
    }

    /// <summary>Ticks of 100 ns of the local clock and the offset in minutes.</summary>
    public void WriteDateTimeOffset(DateTimeOffset value)
    {
        WriteArrayHeader(2);
        WriteInt64(value.Ticks);
        WriteInt64(value.TotalOffsetMinutes);
    }

    /// <summary>Ticks of 100 ns.</summary>
    public void WriteTimeSpan(TimeSpan value) => WriteInt64(value.Ticks);

    /// <summary>Days since 1 January of year 1.</summary>
    public void WriteDateOnly(DateOnly value) => WriteInt64(value.DayNumber);

    /// <summary>Ticks of 100 ns since midnight.</summary>
    public void WriteTimeOnly(TimeOnly value) => WriteInt64(value.Ticks);

    /// <summary>Its UTF-16 code unit.</summary>
    public void WriteChar(char value) => WriteUInt64(value);
}
