using System.ComponentModel;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;
using Ambrosia.Protocol.Payloads;
using Ambrosia.State;
using Ambrosia.Suspension;

namespace Ambrosia;

/// <summary>
/// Gives generated code the fields of the objects in an image to read. The binding makes one for each image, used by one thread.
/// </summary>
/// <remarks>
/// It reads what <see cref="GraphWriter"/> wrote from its beginning to its end twice: all objects are allocated, and then they are filled.
/// Those whose content is hashed or compared come last, in the order that <see cref="FillOrder"/> finds. The memory of the image goes while
/// the state comes: what was read for the last time is given back. The image was checked against its checksum before, but sizes are still
/// checked against the bytes that are there.
/// </remarks>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class GraphReader
{
    private readonly AttachProxy _attach;
    private (Type? Type, FieldPlan? Plan) _last;
    private object?[] _objects = [];
    private readonly int _windowBytes;

    /// <summary>The image while a graph is read from it; null before and behind.</summary>
    private LargeBuffer? _image;
    private ImageWindow _window;

    /// <summary>The place up to which the image was given back where it is read for the last time; null: it is not.</summary>
    private long? _releasedTo;

    /// <summary>The shapes of the rows, and the row of the object that is being read, for the message that names what cannot be.</summary>
    private (ObjectShape?[] Of, ulong Row) _shapes = ([], 0);

    /// <summary>Is told of each reference while objects are filled; null: the order of filling does not depend on them.</summary>
    private FillOrder? _order;

    /// <summary>The runs of objects, in order, that are whole since they were made, and whose bytes are gone.</summary>
    private readonly Queue<WholeRun> _whole = new();

    /// <param name="isReflective">No generated code is used: for tests, which compare the two.</param>
    /// <param name="windowBytes">The bytes after which a reader is begun anew.</param>
    internal GraphReader(AttachProxy attach, bool isReflective = false, int windowBytes = ImageWindow.BytesDefault)
    {
        _windowBytes = windowBytes;
        _attach = attach;
        IsReflective = isReflective;
    }

    internal bool IsReflective { get; }

    /// <summary>The image's table of types.</summary>
    internal ImageTypes Types { get; private set; } = ImageTypes.None;

    /// <summary>Reads the value of a field.</summary>
    public T ReadValue<T>(ref CborReader from) => SlotOf<T>.Get().Read(this, ref from);

    /// <summary>Reads a field that refers to an object, or null.</summary>
    /// <exception cref="InvalidDataException">The object is not a <typeparamref name="T"/>, or this app has no such class.</exception>
    public T? ReadReference<T>(ref CborReader from)
        where T : class
    {
        if (from.TryReadNull()) return null;
        object target = ObjectOf(from.ReadUInt64());
        if (target is MissingObject gone) throw Missing(gone.Type);
        return target as T ?? throw new InvalidDataException($"The image refers to a {target.GetType()} where a {typeof(T)} belongs.");
    }

    /// <summary>Reads a text, or null.</summary>
    public string? ReadText(ref CborReader from) => Texts.Read(ref from);

    internal object ObjectOf(ulong id)
    {
        if (id >= (ulong)_objects.Length || _objects[id] is not { } known)
            throw new InvalidDataException($"The image refers to object {id} of {_objects.Length}.");
        _order?.Refer((int)id);
        return known;
    }

    internal Type TypeOf(ulong id) => Types[id] is { Type: { } type } ? type : throw Missing(Types[id].Missing!);

    /// <summary>Returns how the fields of a type stand in this image.</summary>
    internal FieldPlan PlanOf(Type type)
    {
        if (ReferenceEquals(type, _last.Type)) return _last.Plan!;
        FieldPlan plan = Types.Of(type)?.Plan ?? throw new InvalidDataException($"The image does not name the fields of {type}.");
        _last = (type, plan);
        return plan;
    }

    /// <summary>Lets a proxy of the graph speak to an instance by the session that reads the graph.</summary>
    internal void Attach(object proxy, InstanceId instance) => _attach(proxy, instance);

    /// <summary>
    /// Reads the table of types and all objects of a graph that stands in an image from a place to its end. The image is used up.
    /// </summary>
    /// <param name="kept">Where methods go on whose bodies are kept; null: none is.</param>
    /// <param name="renamed">The class whose name another one has in this app; null: there is none.</param>
    /// <exception cref="CborException">The image is damaged, or something stands behind its end.</exception>
    internal void ReadAll(LargeBuffer image, long at, KeptBodies? kept = null, RenamedClass? renamed = null)
    {
        CborReader from = Open(image, at);
        ReadAll(ref from, kept ?? KeptBodies.None, renamed);
        _window.ExpectEnd(from);
        _image = null;
    }

    /// <summary>Reads the table of types and all objects of a graph that is a part of a value.</summary>
    internal void ReadAllOf(ref CborReader value)
    {
        using var copy = new LargeBuffer();
        copy.Append(value.Remaining);
        CborReader from = Open(copy, 0);
        ReadAll(ref from, KeptBodies.None);
        value = new CborReader(value.Remaining[(int)_window.PositionOf(from)..]);
        _image = null;
    }

    /// <summary>
    /// Begins the reader anew where it stands if it has come far from where it began: a span ends at 2 GiB, an image and its larger
    /// collections do not.
    /// </summary>
    internal void MoveOn(ref CborReader from)
    {
        if (_image is not null && _window.MoveOn(ref from)) ReleaseTo(_window.PositionOf(from));
    }

    /// <summary>Passes one whole item of any length.</summary>
    internal void Skip(ref CborReader from)
    {
        if (_image is null) from.Skip();
        else _window.Skip(ref from);
    }

    /// <summary>Reads the head of a byte string of any length; the content follows.</summary>
    internal long ReadBytesLength(ref CborReader from) => _window.ReadBytesLength(ref from);

    /// <summary>Reads the next stretch of the content of a byte string, for the last time: the view is valid until the next one.</summary>
    internal ReadOnlySpan<byte> ReadContent(scoped ref CborReader from, int bytes)
    {
        ReleaseTo(_window.PositionOf(from));
        return _window.ReadContent(ref from, bytes);
    }

    private CborReader Open(LargeBuffer image, long at)
    {
        _image = image;
        _window = new ImageWindow(image, _windowBytes);
        _releasedTo = null;
        return _window.Begin(at);
    }

    private void ReadAll(ref CborReader from, KeptBodies kept, RenamedClass? renamed = null)
    {
        Types = ImageTypes.Read(ref from, kept, renamed);
        _shapes = (new ObjectShape?[Types.Count], 0);
        _objects = new object?[from.ReadArrayHeader() / 2];
        _whole.Clear();
        List<(int Id, long At)> last;
        long end;
        try
        {
            long at = _window.PositionOf(from);
            List<(int Id, long At)> late = AllocateAll(ref from);
            end = _window.PositionOf(from);
            foreach ((int id, long rowAt) in late)
            {
                from = _window.Begin(rowAt);
                _objects[id] = ReadShape(ref from).Allocate(this, ref from);
            }
            from = _window.Begin(at);
            if (new KeyReach(Types, _shapes.Of, this).IsAny()) _order = new FillOrder(_objects);
            last = FillAll(ref from);
        }
        catch (Exception e) when (e is not (OutOfMemoryException or CborException) && Types[_shapes.Row].Type is { } type)
        {
            throw new InvalidDataException(
                $"{GraphLocation.MayHold(Types, type)}{GraphLocation.Readable(type)} cannot be restored: {e.Message}", e);
        }
        IEnumerable<FillGroup> groups = _order?.Find() ?? last.Select(static each => new FillGroup([each.Id], IsCycle: false));
        _order = null;
        foreach (FillGroup group in groups)
        {
            if (group.IsCycle) FillCycle(group.Ids, last);
            else FillLast(group.Ids[0], PlaceOf(last, group.Ids[0]), isRead: true);
        }
        from = _window.Begin(end);
    }

    private static long PlaceOf(List<(int Id, long At)> last, int id)
    {
        int low = 0, high = last.Count - 1;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (last[middle].Id < id) low = middle + 1;
            else high = middle;
        }
        return last[low].At;
    }

    /// <summary>Fills a collection; all that its keys look into is whole.</summary>
    /// <param name="isRead">It is read for the last time, and its bytes can go.</param>
    private void FillLast(int id, long at, bool isRead)
    {
        CborReader from = _window.Begin(at);
        _releasedTo = isRead ? at : null;
        try
        {
            ReadShape(ref from).Fill(this, ref from, _objects[id]!);
        }
        catch (Exception e) when (e is not (OutOfMemoryException or CborException))
        {
            throw Unfillable(id, e.Message, e);
        }
        ReleaseTo(_window.PositionOf(from));
    }

    /// <summary>
    /// Fills collections whose keys may look into all of them. Most such keys do not, as those of a friend's friends who are known by a
    /// number, so each collection is filled once and finds its keys. One that does not is filled again, now that others are whole.
    /// </summary>
    private void FillCycle(int[] ids, List<(int Id, long At)> last)
    {
        const int RoundsMax = 16;
        int[] left = ids;
        for (int round = 1; left.Length > 0; round++)
        {
            foreach (int id in left) TryFill(id, PlaceOf(last, id), isLast: round == RoundsMax);
            left = [.. left.Where(id => FindLostKey(id) is not null)];
            if (left.Length == 0) left = [.. ids.Where(id => FindLostKey(id) is not null)];
            if (left.Length > 0 && round == RoundsMax)
            {
                string way = KeyPath.Of(_objects[left[0]]!) is { } found ? $" ({found})" : "";
                throw Unfillable(left[0], $"its keys are equal or not by what it holds itself{way}{FindLostKey(left[0])}", null);
            }
            foreach (int id in left) ObjectShapes.Of(_objects[id]!.GetType())!.Empty(_objects[id]!);
        }
    }

    private void TryFill(int id, long at, bool isLast)
    {
        try
        {
            FillLast(id, at, isRead: false);
        }
        catch (InvalidDataException) when (!isLast)
        {
            // Some keys seem to be equal so far.
        }
    }

    /// <summary>Says why a collection that was filled does not find its keys; null: it finds them.</summary>
    private string? FindLostKey(int id)
    {
        try
        {
            return ObjectShapes.Of(_objects[id]!.GetType())!.FindLostKey(_objects[id]!);
        }
        catch (Exception e) when (e is not OutOfMemoryException)
        {
            return $": {e.Message}";
        }
    }

    private InvalidDataException Unfillable(int id, string why, Exception? cause) => new(
        $"{GraphLocation.HolderOf(_objects, _objects[id]!)}: {GraphLocation.Readable(_objects[id]!.GetType())} cannot be restored: {why}",
        cause);

    /// <summary>
    /// Makes the objects, and returns the places of those that are made of others. Neighbours that are whole then are not read again.
    /// </summary>
    private List<(int Id, long At)> AllocateAll(ref CborReader from)
    {
        var late = new List<(int, long)>();
        WholeRun? run = null;
        for (int i = 0; i < _objects.Length; i++)
        {
            _window.MoveOn(ref from);
            long at = _window.PositionOf(from);
            ObjectShape shape = ReadShape(ref from);
            if (!shape.IsMadeWhole(this))
            {
                EndRun(ref run, at, i);
                if (shape.IsMadeLate) late.Add((i, at));
                else _objects[i] = Peek(ref from, shape);
                _window.Skip(ref from);
                continue;
            }
            run ??= new WholeRun(i, at);
            _releasedTo ??= at;
            _objects[i] = shape.Allocate(this, ref from);
            ReleaseTo(_window.PositionOf(from));
        }
        EndRun(ref run, _window.PositionOf(from), _objects.Length);
        return late;
    }

    /// <summary>Makes an object, and leaves the reader where it is.</summary>
    private object Peek(ref CborReader from, ObjectShape shape)
    {
        ImageWindow window = _window;
        CborReader body = from;
        object made = shape.Allocate(this, ref body);
        _window = window;
        return made;
    }

    /// <summary>Keeps a run of whole objects if some of its memory is gone, so that it must not be read again.</summary>
    private void EndRun(ref WholeRun? run, long end, int endId)
    {
        if (run is { } ended && _releasedTo > ended.Start) _whole.Enqueue(ended with { End = end, EndId = endId });
        run = null;
        _releasedTo = null;
    }

    /// <summary>Fills the objects, and returns the places of those that are filled when all others are.</summary>
    private List<(int Id, long At)> FillAll(ref CborReader from)
    {
        var last = new List<(int, long)>();
        _releasedTo = _window.PositionOf(from);
        for (int i = 0; i < _objects.Length; i++)
        {
            if (_whole.TryPeek(out WholeRun? run) && run.FirstId == i)
            {
                _whole.Dequeue();
                from = Pass(run.Start, run.End);
                i = run.EndId - 1;
                continue;
            }
            MoveOn(ref from);
            long at = _window.PositionOf(from);
            ObjectShape shape = ReadShape(ref from);
            if (shape.IsMadeWhole(this)) _window.Skip(ref from);
            else if (!shape.IsFilledLast)
            {
                _order?.Begin(i);
                shape.Fill(this, ref from, _objects[i]!);
            }
            else
            {
                last.Add((i, at));
                ReleaseTo(at);
                _releasedTo = null;
                if (_order is null) _window.Skip(ref from);
                else
                {
                    _order.Begin(i, shape);
                    shape.Report(this, ref from, _order);
                }
                _releasedTo = _window.PositionOf(from);
            }
        }
        ReleaseTo(_window.PositionOf(from));
        return last;
    }

    /// <summary>Leaves out what is not to be given back now.</summary>
    private CborReader Pass(long from, long to)
    {
        ReleaseTo(from);
        _releasedTo = to;
        return _window.Begin(to);
    }

    private ObjectShape ReadShape(ref CborReader from)
    {
        ulong type = _shapes.Row = from.ReadUInt64();
        ImageType row = Types[type];
        return _shapes.Of[type] ??= ShapeOf(row);
    }

    /// <summary>Gives back what was read for the last time, if it is worth a call of the system.</summary>
    private void ReleaseTo(long at)
    {
        const int BytesMin = 64 << 10;
        if (_releasedTo is not { } from || at - from < BytesMin) return;
        _image!.Release(from, at);
        _releasedTo = at;
    }

    private static ObjectShape ShapeOf(ImageType row) => row.Type is not { } type ? new MissingObject(row.Missing!)
        : ObjectShapes.Of(type) ?? throw new InvalidDataException($"The image holds a {type}, which this version cannot read.");

    internal static InvalidDataException Missing(string type) => new($"The image holds a {type}, which this app does not have.");

    /// <summary>It names objects that follow one another, and their bytes.</summary>
    private sealed record WholeRun(int FirstId, long Start, long End = 0, int EndId = 0);
}

/// <summary>Gives a proxy that was read the session by which it speaks, and the instance to which it does.</summary>
internal delegate void AttachProxy(object proxy, InstanceId instance);
