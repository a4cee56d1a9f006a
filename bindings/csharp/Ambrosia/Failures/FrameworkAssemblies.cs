namespace Ambrosia.Failures;

/// <summary>Knows the assemblies of the framework by the keys that they are signed with. Any thread may call it.</summary>
internal static class FrameworkAssemblies
{
    private static readonly string[] s_keys =
        ["b77a5c561934e089", "b03f5f7f11d50a3a", "7cec85d7bea7798e", "cc7b13ffcd2ddd51", "31bf3856ad364e35", "adb9793829ddae60"];

    /// <param name="token">The token of an assembly's public key.</param>
    internal static bool IsKey(byte[]? token) => token is not null && s_keys.Contains(Convert.ToHexStringLower(token));

    internal static bool Has(Type type) => IsKey(type.Assembly.GetName().GetPublicKeyToken());
}
