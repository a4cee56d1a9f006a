namespace Ambrosia.Generators;

/// <summary>Names of the binding's types as generated code writes them.</summary>
internal static class Names
{
    internal const string Writer = "global::Ambrosia.Protocol.CborWriter";
    internal const string Reader = "global::Ambrosia.Protocol.CborReader";
    internal const string Kind = "global::Ambrosia.Protocol.CborKind";
    internal const string Outgoing = "global::Ambrosia.OutgoingMessage";
    internal const string Incoming = "global::Ambrosia.IncomingMessage";
    internal const string Call = "global::Ambrosia.Call";
    internal const string Key = "global::Ambrosia.ImpulseKey";
    internal const string Hidden =
        "[global::System.ComponentModel.EditorBrowsable(global::System.ComponentModel.EditorBrowsableState.Never)]";
    internal const string Generated = "[global::System.CodeDom.Compiler.GeneratedCode(\"Ambrosia.Generators\", \"0.1.0\")]";
}
