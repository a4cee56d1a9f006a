namespace Ambrosia.Protocol.Runs;

/// <summary>Says how a Uri is made of its text, so that it is what it was. The numbers are part of images (docs/image.md I3.4).</summary>
public enum UriForm
{
    /// <summary>It is absolute or relative, as .NET takes the text.</summary>
    AsItsText,

    /// <summary>It is absolute, although the text could be a relative one: the path of a file.</summary>
    Absolute,

    /// <summary>It is relative, although the text could be an absolute one.</summary>
    Relative,

    /// <summary>It is absolute, and nothing of path and query is brought into another form.</summary>
    AbsoluteAsItStands,
}

/// <summary>Keeps of a Uri what its text alone does not tell. Any thread may call it.</summary>
public static class UriForms
{
    /// <summary>Returns the form in which the text of a Uri gives its equal; null: there is none.</summary>
    public static UriForm? Of(Uri value)
    {
        for (UriForm form = UriForm.AsItsText; form <= UriForm.AbsoluteAsItStands; form++)
            if (TryMake(value.OriginalString, form) is { } made && IsEqual(made, value)) return form;
        return null;
    }

    /// <summary>
    /// Returns the Uri of a text in a form, or of a text that cannot be had in it, as a masked one, whatever it is.
    /// </summary>
    /// <exception cref="UriFormatException">The text is no Uri.</exception>
    public static Uri Made(string text, UriForm form) => TryMake(text, form) ?? new Uri(text, UriKind.RelativeOrAbsolute);

    /// <summary>Returns the text by which a Uri travels: its own, or where that would arrive as another one, its absolute form.</summary>
    /// <exception cref="UnencodableException">No text arrives as its equal.</exception>
    public static string TextOf(Uri value)
    {
        if (Of(value) == UriForm.AsItsText) return value.OriginalString;
        if (value.IsAbsoluteUri && TryMake(value.AbsoluteUri, UriForm.AsItsText) is { } made && IsEqual(made, value))
            return value.AbsoluteUri;
        throw UnencodableException.OfText(value, value.OriginalString);
    }

    private static bool IsEqual(Uri made, Uri value) => made.IsAbsoluteUri == value.IsAbsoluteUri
        && (!value.IsAbsoluteUri || (made.AbsoluteUri == value.AbsoluteUri && made.PathAndQuery == value.PathAndQuery
            && made.LocalPath == value.LocalPath && made.UserEscaped == value.UserEscaped));

    private static Uri? TryMake(string text, UriForm form)
    {
        if (form == UriForm.AbsoluteAsItStands)
        {
            var asItStands = new UriCreationOptions { DangerousDisablePathAndQueryCanonicalization = true };
            return Uri.TryCreate(text, asItStands, out Uri? kept) ? kept : null;
        }
        UriKind kind = form switch
        {
            UriForm.Absolute => UriKind.Absolute, UriForm.Relative => UriKind.Relative, _ => UriKind.RelativeOrAbsolute,
        };
        return Uri.TryCreate(text, kind, out Uri? made) ? made : null;
    }
}
