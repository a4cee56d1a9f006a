using Ambrosia.Coordinator.Primary;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Tests;

public sealed class LogCopyCheckTests
{
    private static readonly InstanceIdentity s_identity = new("self", 0, Guid.Parse("11111111-2222-3333-4444-555555555555"), 1);

    private static CatalogEntry Entry(string path = "/data/self", ulong epoch = 3) =>
        new(new InstanceId("self"), s_identity.Uuid, path, new Epoch(epoch), []);

    [Fact]
    public void WhatIsWrong_NothingKnownOrTheSame_Nothing()
    {
        Assert.Null(LogCopyCheck.WhatIsWrong(s_identity, "/data/self", new Epoch(3), null, static _ => true));
        Assert.Null(LogCopyCheck.WhatIsWrong(s_identity, "/data/self", new Epoch(3), Entry(), static _ => true));
        Assert.Null(LogCopyCheck.WhatIsWrong(s_identity, "/data/self", new Epoch(4), Entry(), static _ => true));
    }

    [Fact]
    public void WhatIsWrong_MovedAway_Nothing() =>
        Assert.Null(LogCopyCheck.WhatIsWrong(s_identity, "/data/new", new Epoch(3), Entry(), static _ => false));

    [Fact]
    public void WhatIsWrong_BothThere_Copy() =>
        Assert.Contains("is a copy of the log",
            LogCopyCheck.WhatIsWrong(s_identity, "/data/copy", new Epoch(9), Entry(), static path => path == "/data/self"));

    [Fact]
    public void WhatIsWrong_CatalogSawLaterEpoch_OlderCopy() =>
        Assert.Contains("older copy", LogCopyCheck.WhatIsWrong(s_identity, "/data/self", new Epoch(2), Entry(), static _ => true));
}
