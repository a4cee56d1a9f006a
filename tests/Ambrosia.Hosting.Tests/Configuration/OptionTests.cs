using System.Reflection;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Hosting.Configuration;
using Ambrosia.Hosting.Tests.Running;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Ambrosia.Hosting.Tests.Configuration;

/// <summary>Options of the configuration are those of the command line, and what is wrong is told in its sentences.</summary>
public sealed class OptionTests
{
    [Fact]
    public void Options_OfTheCommandLine_HaveAPropertyEach()
    {
        string[] properties = [.. typeof(AmbrosiaOptions).GetProperties(BindingFlags.Public | BindingFlags.Instance)
            .Where(static property => property.PropertyType == typeof(string)).Select(static property => property.Name)];
        // An upgrade has two apps, and a host one, whose version its own environment may say.
        string[] upgrades = ["UpgradeTo", "UpgradeWithin", "UpgradeLimit", "OldApp", "AppVersion"];
        Assert.Equal(OptionNames.All.Except(upgrades).Order(), properties.Order());
        foreach (string property in properties)
        {
            var options = new AmbrosiaOptions();
            typeof(AmbrosiaOptions).GetProperty(property)!.SetValue(options, "x");
            Assert.Equal(OptionNames.Find(property), Assert.Single(options.Values).Key);
        }
    }

    [Fact]
    public void Section_WithValues_IsThatOfACommandLine()
    {
        HostedOptions found = Check(["shop", "till"], ("Log", "/x"), ("CheckpointEvery", "64M"), ("fork-policy", "stop"), ("apprings", "false"),
            ("Immortals:till:CheckpointEvery", "1M"), ("DegradedBehind", "3s"));
        Assert.Empty(found.Faults);
        Assert.Equal([("shop", "/x/shop", "/x/catalog", 64L << 20), ("till", "/x/till", "/x/catalog", 1L << 20)],
            found.Each.Select(static one => (one.Instance, one.LogDirectory, one.Catalog.Text, one.CheckpointEveryBytes)));
        Assert.All(found.Each, static one => Assert.Equal(TimeSpan.FromSeconds(20), one.DrainWithin));
    }

    [Theory]
    [InlineData("CheckpointEvery", "64MB", "'64MB' of Ambrosia:CheckpointEvery is no size; write it like 64M or 1G")]
    [InlineData("CheckpointEvery", "64", "'64' of Ambrosia:CheckpointEvery has no unit, and would be bytes; write it like 64K, 64M or 1G")]
    [InlineData("HoldLimit", "1h,16", "'1h,16' of Ambrosia:HoldLimit has no unit")]
    [InlineData("StopWithin", "30", "'30' of Ambrosia:StopWithin is no time; write it like 30s or 5m")]
    [InlineData("HangLimit", "no", "no of Ambrosia:HangLimit is not from 0.1 to 3600 seconds")]
    [InlineData("AppRings", "maybe", "'maybe' of Ambrosia:AppRings is neither true nor false")]
    [InlineData("Listen", "10.0.0.1:1", "'10.0.0.1:1' of Ambrosia:Listen can be reached from other machines, and links are not encrypted")]
    [InlineData("Immortals:shop:Segment", "1K", "'1K' of Ambrosia:Immortals:shop:Segment is no size of a log file")]
    [InlineData("", "x", "'Ambrosia' is a section, and has the value 'x'; give its entries, like Ambrosia:Log")]
    [InlineData("Instance", "x", "'Ambrosia:Instance' is no option; the section Ambrosia has AcceptBuild, ")]
    [InlineData("Chekpoint", "x", "'Ambrosia:Chekpoint' is no option; the section Ambrosia has AcceptBuild, ")]
    [InlineData("Immortals:shop:Log", "x", "'Ambrosia:Immortals:shop:Log' is for all immortals; give it as Ambrosia:Log")]
    [InlineData("Immortals:other:Replica", "x", "there is no immortal 'other' to have options; the program adds shop")]
    [InlineData("DegradedBehind", "soon", "'soon' of Ambrosia:DegradedBehind is no time; write it like 10s or 5m")]
    [InlineData("AppSocket", "", "the path of Ambrosia:AppSocket is empty; give one")]
    public void Section_WithABadValue_IsRefusedInTheWordsOfTheCommandLine(string key, string value, string sentence)
    {
        HostedOptions found = Check(["shop"], ("Log", "/x"), (key, value));
        Assert.StartsWith(sentence, Assert.Single(found.Faults), StringComparison.Ordinal);
        Assert.Empty(found.Each);
    }

    [Fact]
    public void Names_ThatAreNone_AreRefused()
    {
        Assert.Equal(["'shop' is the name of 2 immortals; give each a name of its own"], Check(["shop", "shop"], ("Log", "/x")).Faults);
        string noName = Assert.Single(Check(["a shop"], ("Log", "/x")).Faults);
        Assert.StartsWith("'a shop' is no name for an instance", noName, StringComparison.Ordinal);
        Assert.StartsWith("'' is no name for an instance", Assert.Single(Check([""], ("Log", "/x")).Faults), StringComparison.Ordinal);
        Assert.Equal("nothing says where the logs are; give Ambrosia:Log, the directory that holds them",
            Assert.Single(Check(["shop"]).Faults));
    }

    /// <summary>A host in a process that is not its own throws; nothing was made.</summary>
    [Fact]
    public void Host_WithABadValue_IsNotBuilt()
    {
        using var logs = new TemporaryDirectory();
        HostApplicationBuilder builder = RunningHost.NewBuilder(Path.Combine(logs.Path, "log"), ("Ambrosia:Segment", "1K"));
        builder.AddAmbrosia().AddImmortal<Shop>("shop");
        var refused = Assert.Throws<OptionsValidationException>(() => builder.Build().Start());
        Assert.Equal(["'1K' of Ambrosia:Segment is no size of a log file; give a multiple of 4K from 2M to 16G"], refused.Failures);
        Assert.False(Directory.Exists(Path.Combine(logs.Path, "log")));
    }

    [Fact]
    public void Form_UnderACoordinator_IsThatOfItsInstance()
    {
        AddedImmortal shop = new("shop", ImmortalDefinition.Of<Shop>()), till = new("till", ImmortalDefinition.Of<Shop>());
        HostForm form = Form(("AMBROSIA_APP", "unix:/x"), ("AMBROSIA_INSTANCE", "till"));
        Assert.Same(till, form.AppOf([shop, till]));
        Assert.Null(form.WhatIsWrong([shop, till]));
        Assert.Same(shop, form.AppOf([shop])); // one program may be many instances
        Assert.Equal("the coordinator is of instance 'till', and this program has shop, desk; give its --log the directory of one of these",
            form.WhatIsWrong([shop, till with { Name = "desk" }]));
        Assert.StartsWith("the coordinator does not say of which instance it is",
            Form(("AMBROSIA_APP", "unix:/x")).WhatIsWrong([shop, till]), StringComparison.Ordinal);
        Assert.False(Form().IsApp);
    }

    private static HostForm Form(params (string Name, string Value)[] variables) =>
        HostForm.Of(name => variables.FirstOrDefault(each => each.Name == name).Value);

    private static HostedOptions Check(string[] names, params (string Key, string Value)[] entries)
    {
        IConfiguration configuration = new ConfigurationBuilder().AddInMemoryCollection(
            entries.Select(static each => new KeyValuePair<string, string?>($"Ambrosia:{each.Key}".TrimEnd(':'), each.Value))).Build();
        var options = new AmbrosiaOptions();
        SectionReader.Read(configuration.GetSection("Ambrosia"), options);
        return HostedOptions.Of(options, names, hasCoordinators: true);
    }
}
