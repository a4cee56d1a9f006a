using Ambrosia.Coordinator.Primary;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Tests;

public sealed class LogCopyCheckTests
{
    private static readonly InstanceIdentity s_identity = new("self", 0, Guid.Parse("11111111-2222-3333-4444-555555555555"), 1);

    private static CatalogEntry Entry(string path = "/data/self", ulong epoch = 3) =>
        new(new InstanceId("self"), s_identity.Uuid, path, new Epoch(epoch),
            [new ReplicaEntry("r0", "127.0.0.1:1", "primary", new Epoch(epoch))]) { Place = "here" };

    private static string? WhatIsWrong(
        string directory, ulong epoch, CatalogEntry? entry, Func<string, bool> isThere, bool answers = false, string place = "here") =>
        LogCopyCheck.WhatIsWrong(s_identity, directory, place, new Epoch(epoch), entry, isThere, _ => answers);

    [Fact]
    public void WhatIsWrong_NothingKnownOrTheSame_Nothing()
    {
        Assert.Null(WhatIsWrong("/data/self", 3, null, static _ => true));
        Assert.Null(WhatIsWrong("/data/self", 3, Entry(), static _ => true));
        Assert.Null(WhatIsWrong("/data/self", 4, Entry(), static _ => true));
    }

    [Fact]
    public void WhatIsWrong_MovedAway_Nothing() => Assert.Null(WhatIsWrong("/data/new", 3, Entry(), static _ => false));

    [Fact]
    public void WhatIsWrong_BothThere_Copy() =>
        Assert.Contains("is a copy of the log", WhatIsWrong("/data/copy", 9, Entry(), static path => path == "/data/self"));

    [Fact]
    public void WhatIsWrong_CatalogSawLaterEpoch_OlderCopy() =>
        Assert.Contains("older copy", WhatIsWrong("/data/self", 2, Entry(), static _ => true));

    /// <summary>
    /// A primary is asked for where the directory may be another one, and the answer is right for the copy and the original.
    /// </summary>
    [Theory]
    [InlineData("/data/new", "here", 3)] // elsewhere on the machine, and the entry's directory is not to be seen
    [InlineData("/data/self", "there", 3)] // the same path on another machine, or a copy at the path of what was moved
    [InlineData("/data/self", "", 3)] // the system does not say what the directory is
    [InlineData("/data/self", "there", 1)] // the other one has claimed an epoch since
    public void WhatIsWrong_AnotherDirectoryWhoseInstanceRuns_OneOfTheTwoIsACopy(string directory, string place, ulong epoch)
    {
        string? wrong = WhatIsWrong(directory, epoch, Entry(), _ => directory == "/data/self", answers: true, place);
        Assert.Contains("answers at 127.0.0.1:1", wrong);
        Assert.Contains("one of the two is a copy", wrong);
    }

    /// <summary>A process of this directory may follow its primary, so no question is put; one whose primary is dead goes on.</summary>
    [Fact]
    public void WhatIsWrong_TheSameDirectoryOrNoAnswer_Nothing()
    {
        Assert.Null(WhatIsWrong("/data/self", 3, Entry(), static _ => true, answers: true));
        Assert.Null(WhatIsWrong("/data/new", 3, Entry(), static _ => false, place: "here")); // renamed
        Assert.Null(WhatIsWrong("/data/self", 3, Entry(), static _ => true, place: "there")); // the machine was started again
        Assert.Null(WhatIsWrong("/data/new", 3, Entry() with { Replicas = [] }, static _ => false, answers: true));
    }
}
