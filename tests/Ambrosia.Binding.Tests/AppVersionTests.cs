using System.Reflection;
using System.Reflection.Emit;

namespace Ambrosia.Tests;

/// <summary>The version that an app says hello with is what its assembly states.</summary>
public sealed class AppVersionTests
{
    [Theory]
    [InlineData(null, 1)]
    [InlineData(1, 1)]
    [InlineData(7, 7)]
    public void Definition_OfAnAssembly_HasTheVersionThatItStates(int? stated, uint version) =>
        Assert.Equal(version, DefinitionOf(stated).AppVersion);

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    public void Version_BelowOne_IsRefused(int stated)
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new AppVersionAttribute(stated));
        Assert.ThrowsAny<ArgumentException>(() => DefinitionOf(stated).AppVersion);
    }

    private static ImmortalDefinition DefinitionOf(int? stated)
    {
        var assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Versioned"), AssemblyBuilderAccess.Run);
        if (stated is { } version)
            assembly.SetCustomAttribute(new CustomAttributeBuilder(typeof(AppVersionAttribute).GetConstructor([typeof(int)])!, [version]));
        Type type = assembly.DefineDynamicModule("Versioned").DefineType("Demo").CreateType();
        return new ImmortalDefinition(type, static () => throw new NotSupportedException(), 0);
    }
}
