namespace CRA;

/// <summary>Where the authentication of a link stands.</summary>
public enum AuthStatus
{
    /// <summary>Feed it <see cref="LinkAuthentication.BytesWanted"/> more bytes of the other side.</summary>
    NeedMore,

    /// <summary>The other side knows the secret (for a dialler: and is sent our proof of it); frames follow.</summary>
    Done,
}
