using System.Runtime.CompilerServices;
using Ambrosia.Protocol.Cbor;

namespace Ambrosia.Protocol;

/// <summary>This part walks whole items without reading them: unknown fields, surplus arguments, validation.</summary>
public ref partial struct CborReader
{
    /// <summary>The state of an open container. A tag counts as a container of a single item.</summary>
    private struct Level
    {
        /// <summary>The number of items still to come. A map has two for each pair, so it is even exactly where a key begins.</summary>
        public ulong Left;
        public bool IsMap, IsIndefinite;

        /// <summary>The current key, and the one before it; empty (both 0) before the first.</summary>
        public int KeyStart, KeyBeforeStart, KeyBeforeEnd;
    }

    /// <summary>Passes one whole item, whatever it contains.</summary>
    /// <exception cref="CborException">The item is malformed, cut off or too deep; in strict mode also not deterministic, order of
    /// keys included.</exception>
    public void Skip()
    {
        byte major = (byte)(FirstByte() & CborMajor.Mask);
        if (major is CborMajor.Unsigned or CborMajor.Negative) Argument(major);
        else SkipAny();
    }

    /// <summary>Passes one whole item and returns its encoding.</summary>
    public ReadOnlySpan<byte> ReadEncoded()
    {
        int start = _at;
        Skip();
        return _bytes[start.._at];
    }

    /// <summary>
    /// Reads through all bytes, which must be a sequence of whole items (RFC 8742), deterministically encoded unless lenient.
    /// </summary>
    public static void Check(ReadOnlySpan<byte> sequence, bool lenient = false)
    {
        var reader = new CborReader(sequence, lenient);
        while (!reader.AtEnd) reader.Skip();
    }

    [SkipLocalsInit]
    private void SkipAny()
    {
        Span<Level> levels = stackalloc Level[DepthMax];
        int open = 0;
        do
        {
            if (open > 0 && levels[open - 1] is { IsMap: true } map && (map.Left & 1) == 0) levels[open - 1].KeyStart = _at;
            if (open > 0 && EndsWithBreak(levels[open - 1]))
            {
                _at++;
                open = Complete(levels, open - 1);
            }
            else if (TryOpen(out Level level))
            {
                if (_depth + open == DepthMax) throw TooDeep(_at);
                levels[open++] = level;
                if (level.Left == 0) open = Complete(levels, open - 1);
            }
            else
            {
                SkipScalar();
                open = Complete(levels, open);
            }
        }
        while (open > 0);
    }

    /// <summary>Ends an item and closes the containers of which it was the last; returns how many stay open.</summary>
    private readonly int Complete(Span<Level> levels, int open)
    {
        while (open > 0)
        {
            ref Level top = ref levels[open - 1];
            if (top.IsMap && (top.Left & 1) == 0) CheckKey(ref top);
            if (--top.Left > 0) return open;
            open--;
        }
        return 0;
    }

    private readonly void CheckKey(ref Level map)
    {
        if (!_isLenient && map.KeyBeforeEnd > 0
            && _bytes[map.KeyBeforeStart..map.KeyBeforeEnd].SequenceCompareTo(_bytes[map.KeyStart.._at]) >= 0)
            throw NotDeterministic(map.KeyStart, "map key that does not come after the one before it");
        map.KeyBeforeStart = map.KeyStart;
        map.KeyBeforeEnd = _at;
    }

    private readonly bool EndsWithBreak(in Level level) =>
        level.IsIndefinite && FirstByte() == CborMajor.Break && (!level.IsMap || (level.Left & 1) == 0);

    /// <summary>Reads the head of a container or tag; for any other item it reads nothing and returns false.</summary>
    private bool TryOpen(out Level level)
    {
        level = default;
        switch (FirstByte() & CborMajor.Mask)
        {
            case CborMajor.Array:
                return Opened(ref level, ReadArrayHeader());
            case CborMajor.Map:
                level.IsMap = true;
                return Opened(ref level, ReadMapHeader());
            case CborMajor.Tag:
                ReadTag();
                level.Left = 1;
                return true;
            default:
                return false;
        }
    }

    private static bool Opened(ref Level level, int count)
    {
        level.IsIndefinite = count == IndefiniteLength;
        level.Left = level.IsIndefinite ? ulong.MaxValue - 1 : (ulong)count * (level.IsMap ? 2ul : 1ul);
        return true;
    }

    private void SkipScalar()
    {
        switch (PeekKind())
        {
            case CborKind.Unsigned: ReadUInt64(); break;
            case CborKind.Negative: ReadNegative(); break;
            case CborKind.Bytes: ReadBytes(); break;
            case CborKind.Text: ReadUtf8(); break;
            case CborKind.Float: FloatBits(); break;
            case CborKind.Simple: ReadSimple(); break;
            case CborKind.Boolean or CborKind.Null or CborKind.Undefined: _at++; break;
            default: throw Malformed(_at, $"first byte 0x{FirstByte():X2}");
        }
    }
}
