using Ambrosia.Client;
using Ambrosia.Hosting.Configuration;
using Ambrosia.Hosting.Tests.Running;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Ambrosia.Hosting.Tests.Configuration;

/// <summary>What a program must not be is said before anything is made: what it is, why that will not do, and how to mend it.</summary>
public sealed class RefusalTests
{
    private static readonly Dictionary<string, (Action<AmbrosiaBuilder> Add, string Sentence)> s_programs = new()
    {
        ["two of one name"] = (
            static all => all.AddImmortal<Shop>("shop").AddImmortal<Shop>("shop"),
            "'shop' is the name of 2 immortals; give each a name of its own"),
        ["no name"] = (
            static all => all.AddImmortal<Shop>("../shop"),
            "'../shop' is no name for an instance: 1 to 63 letters, digits, '_' or '-', beginning with a letter or digit"),
        ["no size"] = (
            static all => all.AddImmortal<Shop>("shop", own => own.CheckpointEvery = "64 megabytes"),
            "'64 megabytes' of Ambrosia:Immortals:shop:CheckpointEvery is no size; write it like 64M or 1G"),
        ["another contract"] = (
            static all => all.AddImmortal<Shop>("shop").Services.AddImmortalClient<ITown>("shop"),
            "the client ITown of 'shop' cannot call Shop, which does not implement that contract; give AddImmortalClient the contract of "
                + "that immortal, or the name of another instance"),
        ["a newer contract"] = (
            static all => all.AddImmortal<Shop>("shop").Services.AddImmortalClient<Newer.IShop>("shop"),
            "the client IShop of 'shop' calls Rent, Lend, which the contract of Shop in Ambrosia.Hosting.Tests does not have; build both "
                + "from one version of the contract"),
    };

    public static TheoryData<string> Programs => new(s_programs.Keys);

    [Theory]
    [MemberData(nameof(Programs))]
    public void Program_ThatWillNotDo_IsRefusedBeforeAnythingIsMade(string kind)
    {
        using var logs = new TemporaryDirectory();
        HostApplicationBuilder builder = RunningHost.NewBuilder(Path.Combine(logs.Path, "log"));
        s_programs[kind].Add(builder.AddAmbrosia());
        var refused = Assert.Throws<OptionsValidationException>(() => builder.Build().Start());
        Assert.Equal([s_programs[kind].Sentence], refused.Failures);
        Assert.Empty(Directory.EnumerateFileSystemEntries(logs.Path));
    }

    /// <summary>A client of an older version of the contract has fewer methods, and is as good.</summary>
    [Fact]
    public void Client_OfAnOlderContractOrOfAnotherInstance_IsNotRefused()
    {
        Assert.Null(ContractCheck.WhatIsWrong(new AddedClient("shop", typeof(Older.IShop)), typeof(Shop)));
        Assert.Null(ContractCheck.WhatIsWrong(new AddedClient("shop", typeof(IShop)), typeof(Shop)));
        Assert.Empty(ContractCheck.Faults(
            [new AddedImmortal("shop", ImmortalDefinition.Of<Shop>())], [new AddedClient("elsewhere", typeof(ITown))]));
    }

    [Fact]
    public void Immortal_WithoutAContract_IsRefusedWithWhatToReferTo()
    {
        string? wrong = ContractCheck.WhatIsWrong("text", typeof(string));
        Assert.StartsWith("the immortal 'text' states no contract: ", wrong, StringComparison.Ordinal);
        Assert.EndsWith("refer to the package Ambrosia in the project of the contract, without AmbrosiaGenerator=false", wrong,
            StringComparison.Ordinal);
        Assert.Null(ContractCheck.WhatIsWrong("shop", typeof(Shop)));
    }

    [Fact]
    public void Packages_OfOneVersion_AreNotRefusedAndOfAnotherOneAre()
    {
        Assert.Empty(PackageVersions.Faults());
        Assert.Equal(
            ["CRA is of version 0.2.0, and Ambrosia.Hosting of 0.1.0: generator, binding and coordinator of a program are one build; refer "
                + "to all packages of Ambrosia with the same version"],
            PackageVersions.Faults([("Ambrosia.Hosting", "0.1.0"), ("Ambrosia", "0.1.0"), ("CRA", "0.2.0")]));
    }

    /// <summary>What is compared is all that a host consists of.</summary>
    [Fact]
    public void Packages_ThatAreCompared_AreAllThatAHostNeeds()
    {
        string[] needed = [.. Directory.EnumerateFiles(AppContext.BaseDirectory, "*.dll")
            .Select(Path.GetFileNameWithoutExtension).OfType<string>()
            .Where(static name => name is "CRA" or "Ambrosia" || name.StartsWith("Ambrosia.", StringComparison.Ordinal))
            .Except(["Ambrosia.Hosting.Tests", "Ambrosia.Hosting.App", "Ambrosia.TestKit"])];
        Assert.Equal(needed.Order(), PackageVersions.Found().Select(static each => each.Name).Order());
        Assert.All(PackageVersions.Found(), static each => Assert.NotEqual("", each.Version));
    }
}

/// <summary>A contract that no immortal of these tests has.</summary>
public interface ITown
{
    long People();
}
