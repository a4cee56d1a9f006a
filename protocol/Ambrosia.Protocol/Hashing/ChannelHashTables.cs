using System.Buffers.Binary;

namespace Ambrosia.Protocol;

/// <summary>
/// <see cref="ChannelHash"/> where the processor has no carry-less multiplication: eight tables, eight bytes a step.
/// Entry i of table k is the state after byte i and k zero bytes.
/// </summary>
internal static class ChannelHashTables
{
    private static readonly ulong[] s_tables = Make();

    public static ulong Append(ulong hash, ReadOnlySpan<byte> bytes)
    {
        ReadOnlySpan<ulong> tables = s_tables;
        ulong state = ~hash;
        for (; bytes.Length >= 8; bytes = bytes[8..])
        {
            ulong word = state ^ BinaryPrimitives.ReadUInt64LittleEndian(bytes);
            state = tables[(7 << 8) | (byte)word]
                ^ tables[(6 << 8) | (byte)(word >> 8)]
                ^ tables[(5 << 8) | (byte)(word >> 16)]
                ^ tables[(4 << 8) | (byte)(word >> 24)]
                ^ tables[(3 << 8) | (byte)(word >> 32)]
                ^ tables[(2 << 8) | (byte)(word >> 40)]
                ^ tables[(1 << 8) | (byte)(word >> 48)]
                ^ tables[(byte)(word >> 56)];
        }
        foreach (byte b in bytes) state = (state >> 8) ^ tables[(byte)state ^ b];
        return ~state;
    }

    private static ulong[] Make()
    {
        var tables = new ulong[8 * 256];
        for (int i = 0; i < 256; i++)
        {
            ulong state = (ulong)i;
            for (int bit = 0; bit < 8; bit++) state = ChannelHashAlgebra.TimesX(state);
            tables[i] = state;
        }
        for (int i = 256; i < tables.Length; i++)
            tables[i] = (tables[i - 256] >> 8) ^ tables[(byte)tables[i - 256]];
        return tables;
    }
}
