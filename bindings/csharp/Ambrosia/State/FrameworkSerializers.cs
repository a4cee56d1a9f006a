using System.Collections;
using System.Numerics;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.State;

/// <summary>
/// Holds the serializers of the framework's types that are values or texts in another form. They stand in an image like those of an app's
/// own serializer.
/// </summary>
internal static class FrameworkSerializers
{
    /// <summary>Each is an <see cref="IStateSerializer{T}"/> of its type.</summary>
    internal static readonly Dictionary<Type, object> ByType = new()
    {
        [typeof(StringBuilder)] = new OfStringBuilder(),
        [typeof(BitArray)] = new OfBitArray(),
        [typeof(Uri)] = new OfUri(),
        [typeof(Version)] = new OfVersion(),
        [typeof(BigInteger)] = new OfBigInteger(),
    };

    /// <summary>
    /// Keeps its text, and in front of it the most that it may hold, where that has a limit; how it is cut into pieces of memory is no part
    /// of it.
    /// </summary>
    private sealed class OfStringBuilder : IStateSerializer<StringBuilder>
    {
        public void Write(ref CborWriter to, StringBuilder value)
        {
            if (value.MaxCapacity != int.MaxValue)
            {
                to.WriteArrayHeader(2);
                to.WriteInt64(value.MaxCapacity);
            }
            Texts.Write(ref to, value.ToString());
        }

        public StringBuilder Read(ref CborReader from)
        {
            if (!IsPair(ref from)) return new(Texts.Read(ref from));
            int most = from.ReadInt32();
            string text = Texts.Read(ref from) ?? "";
            if (most < Math.Max(1, text.Length))
                throw new InvalidDataException($"The image holds a StringBuilder of {text.Length} of {most} characters.");
            return new StringBuilder(Math.Min(Math.Max(text.Length, 16), most), most).Append(text);
        }
    }

    /// <summary>
    /// Passes the head of a pair of a number and a text, if there is one. A text with half surrogates is an array, too, of numbers alone.
    /// </summary>
    private static bool IsPair(ref CborReader from)
    {
        CborReader ahead = from;
        if (ahead.PeekKind() != CborKind.Array || ahead.ReadArrayHeader() != 2) return false;
        ahead.Skip();
        if (ahead.PeekKind() == CborKind.Unsigned) return false;
        from.ReadArrayHeader();
        return true;
    }

    /// <summary>
    /// Writes a byte string: the number of bits of the last byte that are none, then the bits, the first being the lowest of its byte. Any
    /// byte string is some BitArray, so that a masked image can be restored.
    /// </summary>
    private sealed class OfBitArray : IStateSerializer<BitArray>
    {
        public void Write(ref CborWriter to, BitArray value)
        {
            byte[] bytes = new byte[1 + (value.Length + 7) / 8];
            value.CopyTo(bytes, 1);
            bytes[0] = (byte)(8 * (bytes.Length - 1) - value.Length);
            to.WriteBytes(bytes);
        }

        public BitArray Read(ref CborReader from)
        {
            byte[] bytes = from.ReadBytes().ToArray();
            if (bytes.Length == 0) throw new InvalidDataException("The image holds a BitArray without its first byte.");
            var bits = new BitArray(bytes[1..]);
            if (bits.Length > 0) bits.Length -= bytes[0] & 7;
            return bits;
        }
    }

    /// <summary>
    /// Keeps its text, and in front of it its kind where the text alone would come back as another one. One of another kind yet is refused.
    /// </summary>
    private sealed class OfUri : IStateSerializer<Uri>
    {
        public void Write(ref CborWriter to, Uri value)
        {
            UriForm form = UriForms.Of(value) ?? throw new InvalidOperationException(
                "it was made in a way that its text does not tell; keep its text, and make it where it is needed");
            if (form != UriForm.AsItsText)
            {
                to.WriteArrayHeader(2);
                to.WriteUInt64((ulong)form);
            }
            Texts.Write(ref to, value.OriginalString);
        }

        public Uri Read(ref CborReader from)
        {
            if (!IsPair(ref from)) return UriForms.Made(Texts.Read(ref from) ?? "", UriForm.AsItsText);
            ulong form = from.ReadUInt64();
            if (form > (ulong)UriForm.AbsoluteAsItStands) throw new InvalidDataException($"The image holds a Uri of form {form}.");
            return UriForms.Made(Texts.Read(ref from) ?? "", (UriForm)form);
        }
    }

    /// <summary>Keeps its two to four numbers. Any numbers make some Version, so that a masked image can be restored.</summary>
    private sealed class OfVersion : IStateSerializer<Version>
    {
        public void Write(ref CborWriter to, Version value)
        {
            int[] numbers = [.. new[] { value.Major, value.Minor, value.Build, value.Revision }.TakeWhile(static each => each >= 0)];
            to.WriteArrayHeader(numbers.Length);
            foreach (int number in numbers) to.WriteInt64(number);
        }

        public Version Read(ref CborReader from)
        {
            int count = from.ReadArrayHeader();
            if (count is < 2 or > 4) throw new InvalidDataException($"The image holds a Version of {count} numbers.");
            Span<int> numbers = stackalloc int[4];
            for (int i = 0; i < count; i++) numbers[i] = from.ReadInt32() & int.MaxValue;
            return count switch
            {
                2 => new Version(numbers[0], numbers[1]),
                3 => new Version(numbers[0], numbers[1], numbers[2]),
                _ => new Version(numbers[0], numbers[1], numbers[2], numbers[3]),
            };
        }
    }

    /// <summary>Writes two's complement, the lowest byte first, as short as it can be.</summary>
    private sealed class OfBigInteger : IStateSerializer<BigInteger>
    {
        public void Write(ref CborWriter to, BigInteger value) => to.WriteBytes(value.ToByteArray());

        public BigInteger Read(ref CborReader from) => new(from.ReadBytes());
    }
}
