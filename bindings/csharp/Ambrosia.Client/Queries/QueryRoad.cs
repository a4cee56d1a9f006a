namespace Ambrosia.Client;

/// <summary>The two connections that a client may have.</summary>
internal enum QueryRoad { Primary, Secondary }
