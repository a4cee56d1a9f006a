using System.Buffers;
using System.ComponentModel;
using System.Reflection;
using Ambrosia.MethodBodies;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.State;
using Ambrosia.Suspension;

namespace Ambrosia;

/// <summary>
/// Takes the fields of objects from generated code and writes them into an image. The binding makes one for each image, used by one thread.
/// </summary>
/// <remarks>
/// Every object is written once, under an id in the order of first encounter. It goes breadth first with a work list, so that a long chain
/// of objects does not recurse. References are ids, so sharing and cycles survive. What a process has once
/// (<see cref="ObjectShape.ValueOf"/>) is one object of the image by its value. Two graphs that are equal give equal bytes.
/// </remarks>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class GraphWriter
{
    /// <summary>The bytes that are copied at once: a small part of a piece of the image, the end of which they may not fill.</summary>
    private const int StretchBytes = 8 << 10;

    private readonly ObjectTable _objects = new();
    private readonly WrittenTypes _classes = new();
    private readonly OrderedDictionary<Type, TypeRow> _types = [];
    private readonly PieceBuffer _bodies;
    private readonly GraphLocation _place;
    private readonly StateMigration? _moving;

    /// <summary>The first of the objects whose bodies were too much to keep; they are written again by <see cref="WriteRest"/>.</summary>
    private int _restFrom = int.MaxValue;

    /// <summary>
    /// While the rest is written, the object that was mentioned first next: objects are mentioned in the same order again, so most need not
    /// be looked for.
    /// </summary>
    private int _nextMention;

    /// <summary>True when all objects were found.</summary>
    private bool _isComplete;

    /// <param name="isReflective">No generated code is used: for tests, which compare the two.</param>
    /// <param name="moving">What is written is for another class of immortal; null: for this one.</param>
    /// <param name="keptBytesMax">The bytes of bodies that are kept in memory, about; the rest are written when they are sent.</param>
    /// <param name="tellsPlaces">It will be asked for places; generated code does not say them at each field, so none is used.</param>
    internal GraphWriter(
        bool isReflective = false, StateMigration? moving = null, long keptBytesMax = long.MaxValue, bool tellsPlaces = false)
    {
        IsReflective = isReflective || tellsPlaces;
        _place = new GraphLocation { Owners = tellsPlaces ? [] : null };
        _bodies = new PieceBuffer(keptBytesMax);
        _moving = moving;
        Bodies = new UsedMethodBodies(moving);
    }

    internal bool IsReflective { get; }

    /// <summary>
    /// Looks each key up of every map and set, not only of those whose keys may have changed: for what was restored a moment ago.
    /// </summary>
    internal bool LooksAllKeysUp { get; init; }

    /// <summary>Says where in the state the last bytes belong; it is right for a writer that tells places.</summary>
    internal string Place => _place.InObject;

    /// <summary>The bodies that what was written depends on.</summary>
    internal UsedMethodBodies Bodies { get; }

    /// <summary>Writes the value of a field of the object that is being written.</summary>
    public void WriteField<T>(ref CborWriter to, StateCodec of, int field, T value)
    {
        _place.At(of, field);
        SlotOf<T>(typeof(T)).Write(this, ref to, value);
    }

    /// <inheritdoc cref="WriteField"/>
    public void WriteReference(ref CborWriter to, StateCodec of, int field, object? value)
    {
        _place.At(of, field);
        WriteReference(ref to, value);
    }

    /// <summary>Writes a text, or null.</summary>
    public void WriteText(ref CborWriter to, string? value) => Texts.Write(ref to, value);

    internal void WriteReference(ref CborWriter to, object? value)
    {
        if (value is null) to.WriteNull();
        else to.WriteUInt64((ulong)IdOf(value));
    }

    /// <summary>Writes a stretch of the content of a byte string, whose head was written before.</summary>
    internal void WriteContent(ref CborWriter to, scoped ReadOnlySpan<byte> content)
    {
        for (; content.Length > StretchBytes; content = content[StretchBytes..]) to.WriteEncoded(content[..StretchBytes]);
        to.WriteEncoded(content);
    }

    /// <summary>Writes the object that a delegate calls its method on.</summary>
    internal void WriteTarget(ref CborWriter to, Type declaring, object? target)
    {
        _place.AtTargetOf(declaring);
        WriteReference(ref to, target);
    }

    /// <summary>Returns the class that stands for another in this image.</summary>
    internal Type ClassInImage(Type type) => _moving?.ClassOf(type) ?? type;

    /// <summary>Returns the id of an object, which is written later if this is its first mention.</summary>
    internal int IdOf(object instance)
    {
        if (_moving is not null) instance = _moving.Successor(instance, _place);
        if (_isComplete && _nextMention < _objects.Count && ReferenceEquals(_objects[_nextMention], instance)) return _nextMention++;
        return _objects.Find(instance) is >= 0 and { } known ? known : NewIdOf(instance);
    }

    /// <summary>
    /// Writes everything reachable from what was mentioned, and then nothing can be added. What is too much to keep is only walked through,
    /// so that what cannot be written is found before anything is sent.
    /// </summary>
    /// <exception cref="NotWritableException">Something of it cannot be written.</exception>
    internal void WriteAll()
    {
        var to = new CborWriter(_bodies);
        for (int i = 0; i < _objects.Count; i++)
        {
            long at = to.Written;
            int mentioned = _objects.Count;
            WriteObject(ref to, i);
            if (!_bodies.HasLost || _restFrom != int.MaxValue) continue;
            (_restFrom, _nextMention) = (i, mentioned);
            _bodies.CutTo(at);
        }
        to.Flush();
        _isComplete = true;
    }

    /// <summary>Writes the objects that were not kept. Nothing may have changed since.</summary>
    /// <exception cref="InvalidOperationException">Something has: another thread than the handlers' changes the state.</exception>
    internal void WriteRest(IBufferWriter<byte> rest)
    {
        if (_restFrom >= _objects.Count) return;
        var to = new CborWriter(rest);
        for (int i = _restFrom; i < _objects.Count; i++) WriteObject(ref to, i);
        to.Flush();
    }

    /// <summary>
    /// Writes all objects once more, behind a graph that was written to its end, and hands over what belongs to one place before it goes on
    /// to the next.
    /// </summary>
    internal void WriteAgain(IBufferWriter<byte> again)
    {
        var to = new CborWriter(again);
        _nextMention = 1; // the first was mentioned by whoever began
        for (int i = 0; i < _objects.Count; i++)
        {
            WriteObject(ref to, i);
            to.Flush();
        }
    }

    /// <summary>Hands over what was written of the place before, if places are told.</summary>
    internal void EndPlace(ref CborWriter to)
    {
        if (_place.Owners is not null) to.Flush();
    }

    /// <summary>Gives the memory back that the objects' ids take.</summary>
    internal void Free() => _objects.Free();

    /// <summary>Writes the table of types, and then the objects: for a graph that is known to be small.</summary>
    internal void CopyTo(ref CborWriter to)
    {
        WriteFront(ref to);
        foreach (NativePiece piece in _bodies.TakeAll())
        {
            to.WriteEncoded(piece.Content);
            piece.Free();
        }
    }

    /// <summary>Writes the table of types and the head of the objects, behind which the bodies follow.</summary>
    internal void WriteFront(ref CborWriter to)
    {
        to.WriteArrayHeader(_types.Count);
        foreach (TypeRow type in _types.Values) type.Write(ref to, _moving);
        to.WriteArrayHeader(checked(2 * _objects.Count));
    }

    /// <summary>Gives the objects away that were kept, in pieces.</summary>
    internal List<NativePiece> TakeBodies() => _bodies.TakeAll();

    /// <summary>Returns the index of a type in the table of types, and enters the type if it is new there.</summary>
    internal int Mention(Type type)
    {
        if (_types.IndexOf(type) is >= 0 and { } known) return known;
        Depend(type);
        if (NumberedCases.WhyNotWritable(type) is { } why) throw CannotWrite(type, why);
        if (TypeNames.IsTooDeep(type))
            throw CannotWrite(type.IsArray ? typeof(Array) : type.GetGenericTypeDefinition(),
                $" with more than {TypeNames.DepthMax} generic types and arrays in each other");
        int id = _types.Count;
        var row = new TypeRow(type);
        _types.Add(type, row);
        row.Describe(this); // may enter others behind it
        return id;
    }

    /// <summary>Says that a method which is suspended at this state is being written.</summary>
    internal void Suspended(Type machine, int state)
    {
        if (MethodBodyTable.OwnerOf(machine) is not var (row, type)) throw Unknown(machine);
        _place.Enter(row, type, state);
        if (state >= 0) Bodies.Suspended(NameOf(machine.Assembly), row, type, state);
    }

    /// <summary>Keeps what a suspended method waits for, which the line shows that would refuse it.</summary>
    internal void Waiting(Type machine, int state, string forWhat)
    {
        if (state >= 0 && MethodBodyTable.OwnerOf(machine) is var (row, type))
            Bodies.Waiting(NameOf(machine.Assembly), row, type, state, forWhat);
    }

    /// <summary>
    /// Returns the name of a lambda or local function, whose method the image then depends on; null for a method of its own.
    /// </summary>
    internal string? NameOfFunction(MethodInfo method)
    {
        if (MethodBodyTable.OwnerOf(method) is not var (row, function)) return null;
        Bodies.Add(NameOf(method.Module.Assembly), row, null);
        return TypeNames.OfMade(row, function.Role, method.Module.Assembly, _moving);
    }

    internal void At(FieldInfo? writing) => _place.At(writing);

    internal void AtElementOf(Type collection) => _place.AtElementOf(collection);

    internal NotWritableException CannotWrite(Type type, string? how = null) =>
        new($"{_place}: {GraphLocation.Readable(type)}{how} cannot be written{(
            how is null && ObjectShapes.InsteadOf(type) is { } instead ? $"; {instead}" : "")}");

    private Slot<T> SlotOf<T>(Type type)
    {
        try
        {
            return State.SlotOf<T>.Get();
        }
        catch (NotWritableException)
        {
            throw CannotWrite(type);
        }
    }

    private void WriteObject(ref CborWriter to, int id)
    {
        object instance = _objects[id];
        _place.Object = id;
        WrittenType type = ClassOf(instance);
        if (type.Id < 0) type.Id = Mention(type.InImage);
        to.WriteUInt64((ulong)type.Id);
        At(null);
        if ((type.HasChangeableKeys || LooksAllKeysUp) && !_isComplete) LookKeysUp(type, instance);
        type.Shape.Write(this, ref to, instance);
    }

    /// <summary>
    /// A key that the collection does not find, or that has become equal to another, would be another key behind a restore, or none.
    /// </summary>
    private void LookKeysUp(WrittenType type, object instance)
    {
        string? why;
        try
        {
            why = type.Shape.FindLostKey(instance);
        }
        catch (Exception e) when (e is not (OutOfMemoryException or NotWritableException))
        {
            why = $", a key of which cannot be looked up ({e.GetType().Name}: {e.Message}),";
        }
        if (why is null) return;
        throw new NotWritableException($"{Place}: {GraphLocation.Readable(type.InImage)}{why} cannot be written") { IsOfLostKey = true };
    }

    /// <summary>Gives an object that was not met before the next id, or that of its equal.</summary>
    private int NewIdOf(object instance)
    {
        WrittenType type = ClassOf(instance);
        if (type.IsDelegate && !_place.IsLocal) throw CannotWrite(type.InImage, " outside the locals of a method");
        object? value = type.Shape.ValueOf(instance);
        if (_objects.FindEqual(value) is >= 0 and { } known) return known;
        if (_isComplete)
            throw new InvalidOperationException($"{_place} changed while the state was being written; handlers alone may change it");
        int id = _objects.Add(instance, value);
        if (_place.Owners is { } owners && (ObjectShapes.IsOfSystem(instance.GetType()) || HasNoFields(type.Shape.Kind)))
            owners.Add(id, _place.ToString());
        return id;
    }

    private static bool HasNoFields(TypeKind kind) =>
        kind is TypeKind.Array or TypeKind.Grid or TypeKind.Sequence or TypeKind.Map or TypeKind.Opaque;

    private WrittenType ClassOf(object instance)
    {
        WrittenType known = _classes.Of(instance.GetType()) ?? throw CannotWrite(instance.GetType());
        // A method that is finished is its result, whatever its body was.
        if (!known.MayBeFinished || instance is not ISuspended { IsDone: true } frame) return known;
        return _classes.Of(frame.FinishedType) ?? throw CannotWrite(frame.FinishedType);
    }

    /// <summary>Adds what the image depends on because of a type: generic arguments are types that it depends on, too.</summary>
    private void Depend(Type type)
    {
        if (type.IsArray) Depend(type.GetElementType()!);
        if (type.IsConstructedGenericType)
            foreach (Type argument in type.GetGenericArguments()) Depend(argument);
        if (MethodBodyTable.OwnerOf(type) is var (row, owned)) Bodies.Add(NameOf(type.Assembly), row, owned);
        else if (GeneratedNames.IsClosure(type.Name)) throw Unknown(type);
    }

    private static NotWritableException Unknown(Type made) => new(
        $"the body of {GraphLocation.Readable(made.DeclaringType ?? made)} is not known: {MethodBodyTable.Of(made.Assembly).Missing ?? $"no method refers to {made.Name}"}");

    private static string NameOf(Assembly assembly) => assembly.GetName().Name!;
}
