using Ambrosia;
using Ambrosia.EndToEnd.App;

return args switch
{
    ["source", ..] => AmbrosiaApp.Run<Source>(args[1..]),
    ["ledger", ..] => AmbrosiaApp.Run<Ledger>(args[1..]),
    _ => 2,
};
