using Ambrosia.Images.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Images.Masking;

/// <summary>
/// Masks the objects of an image of the C# binding. What stands below a masked place is masked too, through references, so the names of all
/// objects are found before the first value is touched. One thread, one use.
/// </summary>
internal sealed class ObjectMasking
{
    private readonly CSharpImage _image;
    private readonly ValueMasker _masker;
    private readonly PlaceName?[] _names;
    private readonly Stack<int> _toName = [];
    private readonly PlaceMasking _naming, _masking;
    private readonly SessionParts _session;

    /// <summary>
    /// These are object 0 of a whole image, and the immortal: no mask of a field that refers to them is meant for all that they hold.
    /// </summary>
    private readonly HashSet<int> _roots = [];

    internal ObjectMasking(CSharpImage image, ValueMasker masker, IPayloadMasking payloads)
    {
        (_image, _masker) = (image, masker);
        _names = new PlaceName?[image.Count];
        _naming = new PlaceMasking(image, masker, Refer, isNaming: true);
        _masking = new PlaceMasking(image, masker, static (_, _) => { }, isNaming: false);
        _session = new SessionParts(image, masker, payloads);
    }

    /// <summary>Masks a whole image.</summary>
    internal void Run()
    {
        if (_image.Count == 0) return;
        _roots.Add(0);
        if (_session.IdOfImmortal is { } immortal) _roots.Add(immortal);
        RunFrom(0, _masker.Rules.Of("", "state"));
    }

    /// <summary>Masks a graph that stands alone.</summary>
    /// <param name="root">The object that it is about; null: the value itself is no object.</param>
    internal void RunGraph(PlaceName at, ulong? root)
    {
        foreach (ImageType type in _image.Types) Declare(type);
        if (root is { } id) Refer(_image.IdAt(id), at);
        RunAll(at); // a value in place, as a struct is, may refer to several
    }

    private void RunFrom(int first, PlaceName name)
    {
        foreach (ImageType type in _image.Types) Declare(type);
        Refer(first, name);
        RunAll(name);
    }

    private void RunAll(PlaceName otherwise)
    {
        Name();
        for (int id = 0; id < _image.Count; id++)
        {
            if (_names[id] is null) Refer(id, otherwise);
            Name();
        }
        _session.Prepare();
        for (int id = 0; id < _image.Count; id++)
            if (!_session.TryMask(id)) _masking.Object(id, _names[id]!);
    }

    /// <summary>Lets the rules know what the types of the image name, whether an object has it or not.</summary>
    private void Declare(ImageType type)
    {
        if (PlaceMasking.IsOfBinding(type.Name)) return;
        foreach (string field in type.Fields) _masker.Rules.Of(type.Name, field);
    }

    private void Name()
    {
        while (_toName.TryPop(out int id)) _naming.Object(id, _names[id]!);
    }

    private void Refer(int id, PlaceName at)
    {
        if (at.IsMasked && (_roots.Contains(id) || PlaceMasking.IsOfSession(_image.TypeOf(id))))
            at = _masker.Rules.Of("", "state");
        if (_names[id] is { } known && (known.IsMasked || !at.IsMasked)) return;
        _names[id] = at;
        _toName.Push(id);
    }
}
