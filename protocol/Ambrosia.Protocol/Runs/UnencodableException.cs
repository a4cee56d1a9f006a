namespace Ambrosia.Protocol.Runs;

/// <summary>
/// A value is not what its contract can say: an object of a derived class, or none of the cases of a union. A handler that sends it fails
/// by the list of protocol P4.6. Generated code throws it. It keeps no words, since a handler may keep it in its state, and so in an image.
/// </summary>
public sealed class UnencodableException : ArgumentException, IListedFailure
{
    private readonly string _given, _named;
    private readonly bool _isUnion, _isText;

    private UnencodableException(object given, string named, bool isUnion, bool isText = false) =>
        (_given, _named, _isUnion, _isText) = (FailureInfo.NameOf(given.GetType()), named, isUnion, isText);

    /// <summary>The text is made anew from what was given and what it should have been.</summary>
    public override string Message => _isText
        ? $"The {_given} '{_named}' cannot travel: of its text another one would be made where it arrives. Send the text"
        : _isUnion
        ? $"A {_given} cannot travel as {_named}: it is none of its cases"
        : $"A {_given} cannot travel as {_named}, from which it derives: copy it into one, or let the contract name its own type";

    FailureInfo IListedFailure.Failure => ListedFailures.Misuse("a value");

    public static UnencodableException OfDerived(object value, string named) => new(value, named, isUnion: false);

    /// <summary>A value that travels as a text would arrive as another one.</summary>
    public static UnencodableException OfText(object value, string text) => new(value, text, isUnion: false, isText: true);

    public static UnencodableException OfNoCase(object value, string union) => new(value, union, isUnion: true);
}
