using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes and reads the elements of an array or collection as one byte string, where they are numbers or structs of such: by copying
/// memory, where the image holds them in the form of this build. One serves all images, on any thread.
/// </summary>
internal sealed class PackedItems<T>
{
    /// <summary>The memory of elements that is looked at in one stretch, in bytes.</summary>
    private const int StretchBytes = 256 << 10;

    private readonly PackedLayout? _layout = PackedLayout.Of<T>();

    /// <summary>True if this build writes the elements packed.</summary>
    internal bool IsWritten => _layout is not null;

    /// <summary>The number of elements that are looked at in one stretch of memory.</summary>
    internal static int StretchMax => Math.Max(1, StretchBytes / Unsafe.SizeOf<T>());

    /// <summary>Returns what the table of types says of the elements, of which one place alone says this.</summary>
    internal string Described(string slot) => IsWritten ? SlotTexts.Packed + slot : slot;

    /// <summary>Makes an array whose elements are to be read, all of them.</summary>
    internal T[] NewArray(int count) => _layout is { IsWhole: true } ? GC.AllocateUninitializedArray<T>(count) : new T[count];

    internal void WriteHeader(ref CborWriter to, int count) => to.WriteBytesHeader((ulong)count * (ulong)_layout!.Bytes);

    internal void Write(GraphWriter graph, ref CborWriter to, ReadOnlySpan<T> items)
    {
        for (; items.Length > StretchMax; items = items[StretchMax..]) _layout!.Write(graph, ref to, BytesOf(items[..StretchMax]));
        _layout!.Write(graph, ref to, BytesOf(items));
    }

    /// <summary>Writes the elements of a collection that has no memory of its own to copy.</summary>
    internal void Write(GraphWriter graph, ref CborWriter to, IEnumerable<T> items, int count)
    {
        var stretch = new T[Math.Min(count, StretchMax)];
        int filled = 0;
        foreach (T item in items)
        {
            stretch[filled++] = item;
            if (filled < stretch.Length) continue;
            _layout!.Write(graph, ref to, BytesOf(stretch));
            filled = 0;
        }
        if (filled > 0) _layout!.Write(graph, ref to, BytesOf(stretch.AsSpan(0, filled)));
    }

    /// <summary>Reads the head of packed elements, and returns how many there are.</summary>
    /// <exception cref="InvalidDataException">The bytes are not elements of this form, or more than a collection has.</exception>
    internal static int ReadHeader(GraphReader graph, ref CborReader from, PackedForm form)
    {
        long bytes = graph.ReadBytesLength(ref from), count = bytes / form.Bytes;
        if (bytes % form.Bytes != 0)
            throw new InvalidDataException($"The image holds {bytes} bytes, which are no elements {typeof(T)} of {form.Bytes} bytes.");
        return count <= Array.MaxLength ? (int)count
            : throw new InvalidDataException($"The image holds {count} elements {typeof(T)} in one object.");
    }

    /// <summary>Reads packed elements, which are whole then.</summary>
    /// <param name="read">Reads an element from the items as which it would stand elsewhere, if the image has another form of it.</param>
    internal void Read(GraphReader graph, ref CborReader from, PackedForm form, Span<T> items, ReadItem<T> read)
    {
        if (_layout is null || form.Text != _layout.Text)
        {
            ReadUnlike(graph, ref from, form, items, read);
            return;
        }
        while (items.Length > 0)
        {
            Span<T> stretch = items[..Math.Min(items.Length, StretchMax)];
            _layout.Read(graph.ReadContent(ref from, stretch.Length * form.Bytes), BytesOf(stretch));
            items = items[stretch.Length..];
        }
    }

    private static void ReadUnlike(GraphReader graph, ref CborReader from, PackedForm form, Span<T> items, ReadItem<T> read)
    {
        var element = new ArrayBufferWriter<byte>();
        foreach (ref T item in items)
        {
            element.ResetWrittenCount();
            var to = new CborWriter(element);
            form.Unpack(graph.ReadContent(ref from, form.Bytes), ref to);
            to.Flush();
            var unpacked = new CborReader(element.WrittenSpan);
            item = read(graph, ref unpacked);
        }
    }

    private static Span<byte> BytesOf(ReadOnlySpan<T> items) =>
        MemoryMarshal.CreateSpan(ref Unsafe.As<T, byte>(ref MemoryMarshal.GetReference(items)), items.Length * Unsafe.SizeOf<T>());
}

/// <summary>Reads an element of a collection from the items as which it stands in an image.</summary>
internal delegate T ReadItem<out T>(GraphReader graph, ref CborReader from);
