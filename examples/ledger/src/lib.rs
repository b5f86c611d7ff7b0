//! A ledger: a service with a model of its own, typed, on four wires at once.
//! README shows it called by programs that know nothing of each other.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use polywire::prelude::*;
use polywire::rpc::server::Mount;

polywire::include_service!(
    /// Generated from `model/ledger.smithy`.
    pub mod ledger
);

use crate::ledger::{
    Account, AddEntryError, AddEntryInput, AddEntryOutput, Entry, GetAccountError, GetAccountInput,
    GetAccountOutput, Kind, ListEntriesError, ListEntriesInput, ListEntriesOutput, NoSuchAccount,
    OpenAccountError, OpenAccountInput, OpenAccountOutput, Overdrawn,
};

/// Accounts in memory.
#[derive(Debug, Default)]
pub struct Books {
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    accounts: BTreeMap<Text, (Account, Vec<Entry>)>,
    /// Which account a token has opened.
    tokens: BTreeMap<Text, Text>,
}

impl Books {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn find(&mut self, id: &Text) -> Result<&mut (Account, Vec<Entry>), NoSuchAccount> {
        self.accounts.get_mut(id).ok_or_else(|| NoSuchAccount {
            message: format!("there is no account {id}").into(),
            id: Some(id.clone()),
        })
    }
}

impl ledger::server::Ledger for Books {
    async fn open_account(
        &self,
        input: OpenAccountInput,
        _: &Context,
    ) -> Result<OpenAccountOutput, OpenAccountError> {
        let mut pages = self.pages();
        let token = input.token.unwrap_or_default();
        if let Some(id) = pages.tokens.get(&token).cloned()
            && let Some((account, _)) = pages.accounts.get(&id)
        {
            let account = account.clone();
            return Ok(OpenAccountOutput { account });
        }
        let id = Text::from(format!("A{}", pages.accounts.len() + 1));
        let account = Account {
            id: id.clone(),
            owner: input.owner,
            kind: input.kind.unwrap_or(Kind::Current),
            balance: 0,
            opened: now(),
            labels: input.labels,
        };
        let entry = (account.clone(), Vec::new());
        pages.accounts.insert(id.clone(), entry);
        if !token.is_empty() {
            pages.tokens.insert(token, id);
        }
        Ok(OpenAccountOutput { account })
    }

    async fn get_account(
        &self,
        input: GetAccountInput,
        _: &Context,
    ) -> Result<GetAccountOutput, GetAccountError> {
        let account = self.pages().find(&input.id)?.0.clone();
        Ok(GetAccountOutput { account })
    }

    async fn add_entry(
        &self,
        input: AddEntryInput,
        _: &Context,
    ) -> Result<AddEntryOutput, AddEntryError> {
        let mut pages = self.pages();
        let (account, entries) = pages.find(&input.id)?;
        let balance = account.balance + input.cents;
        if account.kind == Kind::Savings && balance < 0 {
            let message = format!("{} holds {} cents", input.id, account.balance);
            return Err(Overdrawn {
                message: message.into(),
                balance: account.balance,
            }
            .into());
        }
        let entry = Entry {
            cents: input.cents,
            at: input.at.unwrap_or_else(now),
            source: input.source,
        };
        account.balance = balance;
        entries.push(entry.clone());
        Ok(AddEntryOutput { entry, balance })
    }

    async fn list_entries(
        &self,
        input: ListEntriesInput,
        _: &Context,
    ) -> Result<ListEntriesOutput, ListEntriesError> {
        let mut pages = self.pages();
        let (_, entries) = pages.find(&input.id)?;
        let first = match input.next_token.as_deref().map(str::parse) {
            None => 0,
            Some(Ok(first)) => first,
            Some(Err(_)) => {
                let message = "nextToken is none that was given";
                return Err(Fault::new(FaultKind::Invalid, message).into());
            }
        };
        let size = usize::try_from(input.page_size.unwrap_or(20)).unwrap_or(1);
        let page: Vec<Entry> = entries.iter().skip(first).take(size).cloned().collect();
        let next = first.saturating_add(page.len());
        Ok(ListEntriesOutput {
            entries: page,
            next_token: (next < entries.len()).then(|| next.to_string().into()),
        })
    }
}

/// The server: three wires side by side, told apart by what their requests look
/// like, and restXml below `/xml`, since its requests may look like restJson1's.
///
/// # Errors
///
/// None here; a model that is changed may not fit a wire.
pub fn server() -> Result<Server, Box<dyn std::error::Error>> {
    let builder = ledger::server::builder(Books::default())
        .protocol(ProtocolKind::RestJson1)
        .protocol(ProtocolKind::AwsJson1_1)
        .protocol(ProtocolKind::RpcV2Cbor)
        .protocol_at(Mount::path("/xml")?, ProtocolKind::RestXml);
    Ok(builder.build()?)
}

/// Now, in whole seconds.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    Timestamp::new(i64::try_from(seconds).unwrap_or(i64::MAX), 0)
}
