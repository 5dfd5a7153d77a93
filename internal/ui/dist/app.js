var D,Dn,Qt,Ne,Gt,kt,On,yt,Ln,Xt,Yt,Qr,st=Symbol.for("pv"),wt={},xt=[],Xr=/^m(i|n|o|s|text|space)$/,en=Array.isArray,tn=xt.slice,Ie=Object.assign;function Fe(e){
e&&e.parentNode&&e.remove()}function Fn(e,t,r){var a,s,o,i={},l=arguments.length;for(o in t)o=="key"?a=t[o]:o=="ref"&&typeof e!="function"?s=t[o]:i[o]=t[o];return l>
2&&(i.children=l>3?tn.call(arguments,2):r),at(e,i,a,s,null)}function at(e,t,r,a,s){var o={type:e,props:t,key:r,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:st,__v:s||++Dn,__i:-1,__u:0};return!s&&D.vnode&&D.
vnode(o),o}function y(e){return e.children}function Je(e,t){this.props=e,this.context=t,this.__g=0}function Be(e,t){if(t==null)return e.__&&Be(e.__,e.__i+1);for(var r;t<e.
__k.length;t++)if((r=e.__k[t])&&r.__e)return r.__e;return typeof e.type!="function"||e.props.__P?null:Be(e)}function ea(e){var t,r=e.__v,a=r.__e,s=[],o=[],i=e.__P;
i&&((t=Ie({constructor:st},r)).__v=r.__v+1,D.vnode&&D.vnode(t),nn(i,t,r,e.__n,i.namespaceURI,32&r.__u?[a]:null,s,a||Be(r),32&r.__u,o),t.__v=r.__v,t.__.__k[t.__i]=
t,jn(s,t,o),r.__=r.__e=null,t.__e!=a&&In(t))}function In(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),
In(e)}function Bn(e){(8&e.__g||(e.__g|=8,Ne.push(e),kt++))&&Gt==D.debounceRendering||((Gt=D.debounceRendering)||queueMicrotask)(Mn)}function Mn(){try{for(var e,
t=1;Ne.length;)Ne.length>t&&Ne.sort(On),e=Ne.shift(),t=Ne.length,8&e.__g&&ea(e)}finally{(kt=Ne.length)&&(Gt||queueMicrotask)(Mn)}}function Un(e,t,r,a,s,o,i,l,c,p,u){
var d,m,f,v,T,_,b=a.__k||xt,k=t.length;for(c=ta(r,t,b,c,k),d=0;d<k;d++)(f=r.__k[d])!=null&&(m=~f.__i&&b[f.__i]||wt,f.__i=d,_=nn(e,f,m,s,o,i,l,c,p,u),v=f.__e,(m.
ref!=f.ref||8&m.__u)&&(m.ref&&rn(m.ref,null,f,m),f.ref&&u.push(f.ref,f.__c||v,f)),T=T||v,4&f.__u?(c=qn(f,c,e,!m.__v),m.__e&&(m.__e=null)):typeof f.type=="functi\
on"&&_!==void 0?c=_:v&&(c=v.nextSibling),f.__u&=-21);return r.__e=T,c}function ta(e,t,r,a,s){var o,i,l,c,p,u,d,m,f,v=r.length,T=v,_=0,b=0,k=e.__k=Array(s);for(o=
0;o<s;o++)(i=t[o])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=k[o]=at(null,i):en(i)?i=k[o]=at(y,{children:i}):
i.constructor===st&&i.__b?i=k[o]=at(i.type,i.props,i.key,i.ref,i.__v):k[o]=i,c=o+_,i.__=e,i.__b=e.__b+1,l=null,~(p=i.__i=na(i,r,c,T))&&(T--,(l=r[p])&&(l.__u|=2)),
l&&l.__v?(i.__u|=16,p==c-1?_--:p==c+1?_++:p!=c&&(p>c?_--:_++,b=1)):(~p||(s>v?_--:s<v&&_++),typeof i.type!="function"&&(i.__u|=4))):k[o]=null;if(b){for(u=[],d=[],
o=0;o<s;o++)if((i=k[o])&&16&i.__u){for(_=0,m=u.length;_<m;)u[f=_+m>>1]<i.__i?_=f+1:m=f;u[_]=i.__i,d[o]=_+1}for(_=u.length;o--;)d[o]&&(d[o]==_?_--:k[o].__u|=4)}if(T)
for(o=0;o<v;o++)!(l=r[o])||2&l.__u||(l.__e==a&&(a=Be(l)),an(l,l));return a}function qn(e,t,r,a){var s,o,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;
if(s=e.__k)for(o=0;o<s.length;o++)s[o]&&(s[o].__=e,t=qn(s[o],t,r,!1));return t}for(t&&!t.parentNode&&(t=Be(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==
8;)l=l.nextSibling;for(i!=l&&(!a&&r.moveBefore&&i.parentNode?r.moveBefore(i,t):r.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith(
"$s"););return t}function na(e,t,r,a){var s,o=e.key,i=e.type,l=t[r],c=l&&!(2&l.__u);if(l===null&&o==null||c&&o==l.key&&i==l.type)return r;if(a>(c?1:0)){for(s=r-1;s>=0;s--)if((l=
t[s])&&!(2&l.__u)&&o==l.key&&i==l.type)return s;for(s=r+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&o==l.key&&i==l.type)return s}return-1}function Rn(e,t,r){r==null&&
(r=""),t[0]=="-"?e.setProperty(t,r):e[t]=r}function _t(e,t,r,a,s){var o,i;if(t=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof a=="string"&&(e.style.
cssText=a=""),a)for(t in a)r&&t in r||Rn(e.style,t);if(r)for(t in r)a&&r[t]==a[t]||Rn(e.style,t,r[t])}else if(t[0]=="o"&&t[1]=="n")typeof r!="function"&&(r=null),
typeof a!="function"&&(a=null),(e.__e||(e.__e={}))[t]=r,r&&a||(i=Yt[t]||(Yt[t]=ra(t)),(e.__a||(e.__a={}))[t]=Xt,o=t!=(t=t.replace(Ln,"$1")),(t=t.slice(2))[0]<"a"&&
(t=t.toLowerCase()),r?e.addEventListener(t,i,o):e.removeEventListener(t,i,o));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)
try{return void(e[t]=r??"")}catch{}if(typeof r=="function")return;r==null||r===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&r==1?"":r)}}function ra(e){
return function(t){var r=this.__e;if(r){if(r=r[e],t[yt]==null)t[yt]=Xt++;else if(t[yt]<this.__a[e])return;return r(D.event?D.event(t):t)}}}function nn(e,t,r,a,s,o,i,l,c,p){
var u,d,m,f,v,T,_,b,k,g,x,E,R,X,j,de,q,M,Z=t.type;if(t.constructor!==st)return null;128&r.__u&&(c=32&r.__u,u=r.__c.__z)&&(t.__u|=c,d=o=[],u.nodeType==8?l=bt(u,o):
o.push(u),l=o[0]||l),(u=D.__b)&&u(t);e:if(typeof Z=="function"){m=i.length;try{if(b=t.props,k=(u=Z.prototype)&&u.render,g=(u=Z.contextType)&&a[u.__c],x=u?g?g.props.
value:u.__:a,(f=r.__c)?(t.__c=f,2&f.__g&&(f.__g|=1)):(k?t.__c=f=new Z(b,x):(t.__c=f=new Je(b,x),f.constructor=Z,f.render=sa),g&&g.sub(f),f.state||(f.state={}),f.
__n=a,f.__g|=8,f.__h=[],f.__k=[]),k&&(f.__s||(f.__s=f.state),Z.getDerivedStateFromProps&&(f.__s==f.state&&(f.__s=Ie({},f.__s)),Ie(f.__s,Z.getDerivedStateFromProps(
b,f.__s)))),v=f.props,T=f.state,f.__v=t,r.__c){if(b!==v&&k&&!Z.getDerivedStateFromProps&&f.componentWillReceiveProps&&f.componentWillReceiveProps(b,x),t.__v==r.
__v&&!(8&f.__g)||!(4&f.__g)&&f.shouldComponentUpdate&&f.shouldComponentUpdate(b,f.__s,x)===!1){t.__v!=r.__v&&(f.props=b,f.state=f.__s,f.__g&=-9),t.__e=r.__e,t.__k=
r.__k,t.__k.some(function(W){W&&(W.__=t)}),xt.push.apply(f.__h,f.__k),f.__k=[],f.__h.length&&i.push(f),l=Be(r);break e}f.componentWillUpdate&&f.componentWillUpdate(
b,f.__s,x),k&&f.componentDidUpdate&&f.__h.push(function(){f.componentDidUpdate(v,T,_)})}else k&&!Z.getDerivedStateFromProps&&f.componentWillMount&&f.componentWillMount(),
k&&f.componentDidMount&&f.__h.push(f.componentDidMount);f.context=x,f.props=b,f.__P=e,f.__g&=-5,E=D.__r,R=k?25:0;do f.__g&=-9,E&&E(t),u=f.render(f.props,f.state=
f.__s,f.context);while(8&f.__g&&++R<25);k&&(xt.push.apply(f.__h,f.__k),f.__k=[]),f.state=f.__s,f.getChildContext&&(a=Ie({},a,f.getChildContext())),k&&r.__c&&f.getSnapshotBeforeUpdate&&
(_=f.getSnapshotBeforeUpdate(v,T)),X=u&&u.type===y&&u.key==null?u.props.children:u,b.__P&&(u=l,s=(e=b.__P).namespaceURI,c=o=null,r.props&&r.props.__P!=e&&(r.__k.
some(function(W){W&&an(W,W)}),r.__k=null),l=r.__k?Be(r,0):null),l=Un(e,en(X)?X:[X],t,r,a,s,o,i,l,c,p),b.__P&&(t.__e=null,l=u),t.__u&=-161,d&&d.some(Fe),f.__h.length&&
i.push(f),1&f.__g&&(f.__g&=-4)}catch(W){if(i.length=m,t.__v=null,c||o)if(W&&W.then){if(t.__u|=128|c,o){for(~(q=o.indexOf(l||void 0))||(q=o.length);(M=o[q-1])&&M.
nodeType==8;)q--;for(;q<o.length;q++)if(M=o[q])if(o[q]=null,j){if(M==de)break}else{if(M.nodeType!=8)break;M.data.startsWith("$s")&&(de=bt(j=M))}}if(!j){for(;l&&
l.nodeType==8&&l.nextSibling;)l=l.nextSibling;j=l}(u=bt(j=t.__c.__z||(t.__c.__z=j)))?(t.__e=j,l=u):t.__e=l,l=l&&l.nextSibling}else o&&o.some(Fe);else t.__e=r.__e;
t.__k||(t.__k=r.__k||[]),W&&W.then||Hn(t),D.__e(W,t,r)}}else l=t.__e=aa(r.__e,t,r,a,s,o,i,c,p,e);return(u=D.diffed)&&u(t),l}function bt(e,t){if(e&&e.nodeType==8&&
e.data.startsWith("$s"))for(var r=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))r++;else if(e.data.startsWith("/$s")&&!--r)return e}t&&t.push(
e)}}function Hn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Hn))}function jn(e,t,r){for(var a=0;a<r.length;)rn(r[a++],r[a++],r[a++]);D.__c&&D.__c(t,e),e.some(
function(s){try{e=s.__h,s.__h=[],e.some(function(o){o.call(s)})}catch(o){D.__e(o,s.__v)}})}function aa(e,t,r,a,s,o,i,l,c,p){var u,d,m,f,v,T,_,b,k=r.props||wt,g=t.
props,x=t.type;if(x=="svg"?s="http://www.w3.org/2000/svg":x=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),o){for(u=0;u<o.
length;u++)if((v=o[u])&&(x?v.localName==x:v.nodeType==3)){e=v,o[u]=null;break}}if(!e){if(b=p.ownerDocument||document,!x)return b.createTextNode(g);e=b.createElementNS(
s,x,g.is?g:p),l&&(D.__m&&D.__m(t,o),l=!1),o=null}if(x){if(p=x=="template"&&e.content||e,o=x=="textarea"&&g.defaultValue!=null?null:o&&tn.call(p.childNodes),!l&&
o)for(k={},u=0;u<e.attributes.length;u++)k[(v=e.attributes[u]).name]=v.value;for(u in k)v=k[u],u=="dangerouslySetInnerHTML"?m=v:u=="children"||u in g||u=="value"&&
"defaultValue"in g||u=="checked"&&"defaultChecked"in g||_t(e,u,null,v,s);for(u in g)v=g[u],u=="children"?f=v:u=="dangerouslySetInnerHTML"?d=v:u=="value"?T=v:u==
"checked"?_=v:l&&typeof v!="function"||k[u]===v||_t(e,u,v,k[u],s);d?(l||m&&(d.__html==m.__html||d.__html==e.innerHTML)||(e.innerHTML=d.__html),t.__k=[]):(m&&(e.
textContent=""),(x=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&Xr.test(x))&&(s="http://www.w3.org/1999/xhtml"),Un(p,en(f)?f:[f],t,r,a,s,o,i,o?o[0]:
r.__k&&Be(r,0),l,c),o&&o.some(Fe)),l&&x!="textarea"||(u="value",x=="progress"&&T==null?e.removeAttribute(u):T==null||T===e[u]&&(x!="progress"||T)||_t(e,u,T,k[u],
s),u="checked",_!=null&&_!=e[u]&&_t(e,u,_,k[u],s))}else k===g||l&&e.data==g||(e.data=g);return e}function rn(e,t,r,a){try{typeof e=="function"?t?t.__x=e(t)||1:a&&
(a=a.__c||a.__e)&&(t=a.__x)&&(a.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){D.__e(s,r)}}function an(e,t,r){var a,s,o,i;if(D.unmount&&D.unmount(
e),!(a=e.ref)||a.current&&a.current!=e.__e||rn(a,null,t,e),a=e.__c){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(l){D.__e(l,t)}a.__P=a.__n=null}
if(a=e.__k)for(i=0;i<a.length;i++)a[i]&&an(a[i],t,typeof e.type!="function"||r&&!e.props.__P);!r&&(a=e.__c)&&(a=a.__z)&&(s=bt(a,o=[]))&&(a==e.__e&&o.some(Fe),Fe(
s),Fe(a)),r||Fe(e.__e),e.__e=e.__c=e.__=null}function sa(e,t,r){return this.constructor(e,r)}function Zn(e,t){var r,a,s,o;D.__&&D.__(e,t),t.nodeType==9&&(t=t.documentElement),
a=(r=e&&32&e.__u)?null:t.__k,t.__k=at(y,{children:[e]}),s=[],o=[],nn(t,t.__k,a||wt,wt,t.namespaceURI,a?null:t.firstChild?tn.call(t.childNodes):null,s,a?a.__e:t.
firstChild,r,o),jn(s,t.__k,o),t.__k.props.children=null}D={__e:function(e,t,r,a){for(var s,o,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(o=s.constructor)&&o.getDerivedStateFromError)&&s.setState(o.getDerivedStateFromError(
e)),s.componentDidCatch&&(s.componentDidCatch(e,a||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw kt=0,e}},Dn=0,Qt=function(e){return e!=null&&e.
constructor===st},Je.prototype.setState=function(e,t){var r=this.__s;r&&r!=this.state||(r=this.__s=Ie({},this.state)),typeof e=="function"&&(e=e(Ie({},r),this.props)),
e&&(Ie(r,e),this.__v&&(t&&this.__k.push(t),Bn(this)))},Je.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Bn(this))},Je.prototype.render=
y,Ne=[],kt=0,On=function(e,t){return e.__v.__b-t.__v.__b},yt=Symbol(),Ln=/(PointerCapture)$|Capture$/i,Xt=0,Yt={},Qr=0;var Me,V,sn,zn,on=Object.is,Ct=0,er=[],ln=[],J=D,Wn=J.__b,Jn=J.__r,Vn=J.diffed,Kn=J.__c,Gn=J.unmount,Yn=J.__;function it(e,t){J.__h&&J.__h(V,e,Ct||t),Ct=0;var r=V.
__H||(V.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function h(e){return Ct=1,oa(tr,e)}function oa(e,t,r){var a=it(Me++,2);if(a.t=e,!a.__c&&
(a.__=[r?r(t):tr(void 0,t),function(o){var i=(a.__N||a.__)[0],l=a.t(i,o);on(i,l)||(a.__N=[l,a.__[1]],a.__c.setState({}))}],a.__c=V,!V.__f)){V.__f=!0;var s=V.shouldComponentUpdate;
V.shouldComponentUpdate=function(o,i,l){var c=this.__H;if(!c)return!0;var p=!1,u=this.props!=o;if(c.__.some(function(m){m.__N&&(p=!0,on(m.__[0],m.__N[0])||(u=!0))}),
s){var d=s.call(this,o,i,l);return p?d||u:d}return!p||u}}return a.__}function K(e,t){var r=it(Me++,3);!J.__s&&un(r.__H,t)&&(r.__P=!0,r.__=e,r.u=t,V.__H.__h.push(
r))}function Tt(e,t){var r=it(Me++,4);!J.__s&&un(r.__H,t)&&(r.__P=!1,r.__=e,r.u=t,V.__h.push(r))}function Y(e){return Ct=5,St(function(){return{current:e}},[])}function St(e,t){var r=it(Me++,7);return un(r.__H,t)&&(r.__=e(),r.__H=t),r.__}function lt(){var e=it(Me++,11);if(!e.__){for(var t=V.__v;!t.__m&&t.__;)t=t.__;var r=t.__m||(t.__m=[0,0]);e.__="P"+r[0]+"-"+r[1]++}return e.__}function ia(){var e;
do{for(;e=ln.shift();)try{ot(e)}catch(r){J.__e(r,{__:(e=e.__P)&&e.__v})}for(;e=er.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(ot),t.__h.some(cn),t.__h=[]}catch(r){
t.__h=[],J.__e(r,e.__v)}}}while(ln.length)}J.__b=function(e){V=null,Wn&&Wn(e)},J.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),Yn&&Yn(e,t)},J.__r=function(e){
Jn&&Jn(e),Me=0;var t=(V=e.__c).__H;t&&(sn==V?V.__h=[]:(t.__h.some(ot),t.__h.some(cn),Me=0),t.__h=[],t.__.some(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})),
sn=V},J.diffed=function(e){Vn&&Vn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Xn(er.push(t)),t.__H.__.some(function(r){r.u&&(r.__H=r.u)})),sn=V=null},J.__c=function(e,t){
t.some(function(r){try{r.__h.some(ot),r.__h=r.__h.filter(function(a){return!a.__||cn(a)})}catch(a){r.__h=[function(){throw a}]}}),Kn&&Kn(e,t)},J.unmount=function(e){
Gn&&Gn(e);var t,r,a=e.__c;a&&a.__H&&(a.__H.__.some(function(s){try{if(s.__P&&s.__c){if(r===void 0){for(r=e.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}s.__P=r,
Xn(ln.push(s))}else ot(s)}catch(o){t=o}}),a.__H=void 0,t&&J.__e(t,a.__v))};var Qn=typeof requestAnimationFrame=="function";function la(e){var t,r=function(){clearTimeout(
a),Qn&&cancelAnimationFrame(t),setTimeout(e)},a=setTimeout(r,35);Qn&&(t=requestAnimationFrame(r))}function Xn(e){e!=1&&zn==J.requestAnimationFrame||((zn=J.requestAnimationFrame)||
la)(ia)}function ot(e){var t=V,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),V=t}function cn(e){var t=V;e.__c=e.__(),V=t}function un(e,t){return!e||e.length!=
t.length||t.some(function(r,a){return!on(r,e[a])})}function tr(e,t){return typeof t=="function"?t(e):t}var ca=Symbol.for("preact-signals");function Et(){if(Te>1)Te--;else{var e,t=!1;for((function(){var s=At;for(At=void 0;s!==void 0;){var o=s.S;if(o.v===s.v)for(var i=o.
t;i!==void 0;i=i.x)i.i===s.i&&(i.i=o.i);s=s.o}})();ut!==void 0;){var r=ut;for(ut=void 0,$t++;r!==void 0;){var a=r.u;if(r.u=void 0,r.f&=-3,!(8&r.f)&&rr(r))try{r.
c()}catch(s){t||(e=s,t=!0)}r=a}}if($t=0,Te--,t)throw e}}function pn(e){if(Te>0)return e();dn=++ua,Te++;try{return e()}finally{Et()}}var ct,H=void 0;function dt(e){
var t=H,r=ct;H=void 0,ct=void 0;try{return e()}finally{H=t,ct=r}}var ut=void 0,Te=0,$t=0,ua=0,dn=0,At=void 0,Pt=0;function nr(e){if(H!==void 0){var t=e.n;if(t===
void 0||t.t!==H)return t={i:0,S:e,p:H.s,n:void 0,t:H,e:void 0,x:void 0,r:t},H.s!==void 0&&(H.s.n=t),H.s=t,e.n=t,32&H.f&&e.S(t),t;if(t.i===-1)return t.i=0,t.n!==
void 0&&(t.n.p=t.p,t.p!==void 0&&(t.p.n=t.n),t.p=H.s,t.n=void 0,H.s.n=t,H.s=t),t}}function ee(e,t){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=
t?.watched,this.Z=t?.unwatched,this.name=t?.name}ee.prototype.brand=ca;ee.prototype.h=function(){return!0};ee.prototype.S=function(e){var t=this,r=this.t;r!==e&&
e.e===void 0&&(e.x=r,this.t=e,r!==void 0?r.e=e:dt(function(){var a;(a=t.W)==null||a.call(t)}))};ee.prototype.U=function(e){var t=this;if(this.t!==void 0){var r=e.
e,a=e.x;r!==void 0&&(r.x=a,e.e=void 0),a!==void 0&&(a.e=r,e.x=void 0),e===this.t&&(this.t=a,a===void 0&&dt(function(){var s;(s=t.Z)==null||s.call(t)}))}};ee.prototype.
subscribe=function(e){var t=this;return be(function(){var r=t.value;dt(function(){return e(r)})},{name:"sub"})};ee.prototype.valueOf=function(){return this.value};
ee.prototype.toString=function(){return this.value+""};ee.prototype.toJSON=function(){return this.value};ee.prototype.peek=function(){var e=this;return dt(function(){
return e.value})};Object.defineProperty(ee.prototype,"value",{get:function(){var e=nr(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.
v){if($t>100)throw new Error("Cycle detected");(function(r){Te!==0&&$t===0&&r.l!==dn&&(r.l=dn,At={S:r,v:r.v,i:r.i,o:At})})(this),this.v=e,this.i++,Pt++,Te++;try{
for(var t=this.t;t!==void 0;t=t.x)t.t.N()}finally{Et()}}}});function ae(e,t){return new ee(e,t)}function rr(e){for(var t=e.s;t!==void 0;t=t.n)if(t.S.i!==t.i||!t.
S.h()||t.S.i!==t.i)return!0;return!1}function ar(e){for(var t=e.s;t!==void 0;t=t.n){var r=t.S.n;if(r!==void 0&&(t.r=r),t.S.n=t,t.i=-1,t.n===void 0){e.s=t;break}}}
function sr(e){for(var t=e.s,r=void 0;t!==void 0;){var a=t.p;t.i===-1?(t.S.U(t),a!==void 0&&(a.n=t.n),t.n!==void 0&&(t.n.p=a)):r=t,t.S.n=t.r,t.r!==void 0&&(t.r=
void 0),t=a}e.s=r}function Ue(e,t){ee.call(this,void 0,t),this.x=e,this.s=void 0,this.g=Pt-1,this.f=4}Ue.prototype=new ee;Ue.prototype.h=function(){if(this.f&=-3,
1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===Pt))return!0;if(this.g=Pt,this.f|=1,this.i>0&&!rr(this))return this.f&=-2,!0;var e=H;try{ar(this),H=this;
var t=this.x();(16&this.f||this.v!==t||this.i===0)&&(this.v=t,this.f&=-17,this.i++)}catch(r){this.v=r,this.f|=16,this.i++}return H=e,sr(this),this.f&=-2,!0};Ue.
prototype.S=function(e){if(this.t===void 0){this.f|=36;for(var t=this.s;t!==void 0;t=t.n)t.S.S(t)}ee.prototype.S.call(this,e)};Ue.prototype.U=function(e){if(this.
t!==void 0&&(ee.prototype.U.call(this,e),this.t===void 0)){this.f&=-33;for(var t=this.s;t!==void 0;t=t.n)t.S.U(t)}};Ue.prototype.N=function(){if(!(2&this.f)){this.
f|=6;for(var e=this.t;e!==void 0;e=e.x)e.t.N()}};Object.defineProperty(Ue.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=nr(
this);if(this.h(),e!==void 0&&(e.i=this.i),16&this.f)throw this.v;return this.v}});function qe(e,t){return new Ue(e,t)}function or(e){var t=e.j;if(e.j=void 0,typeof t==
"function"){Te++;var r=H;H=void 0;try{t()}catch(a){throw e.f&=-2,e.f|=8,fn(e),a}finally{H=r,Et()}}}function fn(e){for(var t=e.s;t!==void 0;t=t.n)t.S.U(t);e.x=void 0,
e.s=void 0,or(e)}function da(e){if(H!==this)throw new Error("Out-of-order effect");sr(this),H=e,this.f&=-2;try{8&this.f&&fn(this)}finally{Et()}}function Ve(e,t){
this.x=e,this.j=void 0,this.s=void 0,this.u=void 0,this.f=32,this.name=t?.name,ct&&ct.push(this)}Ve.prototype.c=function(){var e=this.S();try{if(8&this.f||this.
x===void 0)return;var t=this.x();typeof t=="function"&&(this.j=t)}finally{e()}};Ve.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=
1,this.f&=-9,or(this),ar(this),Te++;var e=H;return H=this,da.bind(this,e)};Ve.prototype.N=function(){2&this.f||(this.f|=2,this.u=ut,ut=this)};Ve.prototype.d=function(){
this.f|=8,1&this.f||fn(this)};Ve.prototype.dispose=function(){this.d()};function be(e,t){var r=new Ve(e,t);try{r.c()}catch(s){throw r.d(),s}var a=r.d.bind(r);return a[Symbol.
dispose]=a,a}var ir,Bt,Nt,pa=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var lr=[];be(function(){ir=this.N})();function Ke(e,t){D[e]=t.bind(null,D[e]||function(){})}function pt(e){if(Nt){var t=Nt;Nt=void 0,t()}Nt=e&&e.S()}function cr(e){
var t=this,r=e.data,a=ma(r);a.name="ReactiveDom",a.value=r;var s=St(function(){for(var l=t,c=t.__v;c=c.__;)if(c.__c){c.__c.__$f|=4;break}var p=qe(function(){var f=a.
value.value;return f===0?0:f===!0?"":f||""}),u=qe(function(){return!Array.isArray(p.value)&&!Qt(p.value)}),d=be(function(){if(this.N=ur,u.value){var f=p.value;l.
__v&&l.__v.__e&&l.__v.__e.nodeType===3&&(l.__v.__e.data=f)}}),m=t.__$u.d;return t.__$u.d=function(){d(),m.call(this)},[u,p]},[]),o=s[0],i=s[1];return o.value?i.
peek():i.value}cr.displayName="ReactiveTextNode";Object.defineProperties(ee.prototype,{constructor:{configurable:!0,value:Fn(y,null).constructor},type:{configurable:!0,
value:cr},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});Ke("__b",function(e,t){if(pt(),
Bt=void 0,typeof t.type=="string"){var r,a=t.props;for(var s in a)if(s!=="children"){var o=a[s];o instanceof ee&&(r||(t.__np=r={}),r[s]=o,a[s]=o.peek())}}e(t)});
Ke("__r",function(e,t){if(e(t),t.type!==y){pt();var r,a=t.__c;a&&(a.__$f&=-2,(r=a.__$u)===void 0&&(a.__$u=r=(function(s,o){var i;return be(function(){i=this},{name:o}),
i.c=s,i})((function(s){return function(){var o;pa&&((o=this.y)==null||o.call(this)),s.__$f|=1,s.setState({})}})(a),typeof t.type=="function"?t.type.displayName||
t.type.name:""))),Bt=a,pt(r)}});Ke("__e",function(e,t,r,a){pt(),Bt=void 0,e(t,r,a)});Ke("diffed",function(e,t){pt(),Bt=void 0;var r;if(typeof t.type=="string"&&
(r=t.__e)){var a=t.__np,s=t.props,o=r.U;if(o)for(var i in o){var l=o[i];l===void 0||a&&i in a||(l.d(),o[i]=void 0)}if(a){o||(o={},r.U=o);for(var c in a){var p=o[c],
u=a[c];p===void 0?(p=fa(r,c,u,s),o[c]=p):p.o(u,s)}}}e(t)});function fa(e,t,r,a){var s=t in e&&e.ownerSVGElement===void 0,o=ae(r);return{o:function(i,l){o.value=
i,a=l},d:be(function(){this.N=ur;var i=o.value.value;a[t]!==i&&(a[t]=i,s?e[t]=i:i!=null&&(i!==!1||t[4]==="-")?e.setAttribute(t,i):e.removeAttribute(t))})}}Ke("u\
nmount",function(e,t){if(typeof t.type=="string"){var r=t.__e;if(r){var a=r.U;if(a){r.U=void 0;for(var s in a){var o=a[s];o&&o.d()}}}var i=t.__np;if(i){var l=t.
props;for(var c in i)l[c]=i[c]}t.__np=void 0}else{var p=t.__c;if(p){p.__$f|=8;var u=p.__$u;u&&(p.__$u=void 0,u.d())}}e(t)});Ke("__h",function(e,t,r,a){a<3&&(t.__$f|=
2),e(t,r,a)});Je.prototype.shouldComponentUpdate=function(e,t){if(this.__R)return!0;var r=this.__$u,a=r&&r.s!==void 0;for(var s in t)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var o=2&this.__$f;if(!(a||o||4&this.__$f)||1&this.__$f)return!0}else if(!(a||4&this.__$f)||3&this.__$f)return!0;for(var i in e)if(i!==
"__source"&&e[i]!==this.props[i])return!0;for(var l in this.props)if(!(l in e))return!0;return!1};function ma(e,t){return St(function(){return ae(e,t)},[])}var ha=function(e){queueMicrotask(function(){queueMicrotask(e)})};function ga(){pn(function(){for(var e;e=lr.shift();)ir.call(e)})}function ur(){lr.push(this)===1&&(D.requestAnimationFrame||ha)(ga)}var dr=new URL("../",document.baseURI),mn=document.querySelector('meta[name="timerbus"]'),ke={version:mn?.content??"",readOnly:mn?.dataset.readOnly==="true",hidePayloads:mn?.
dataset.hidePayloads==="true"},ve=class extends Error{constructor(r,a,s,o=0){super(s);this.status=r;this.code=a;this.retryAfter=o}status;code;retryAfter};function se(e){
return e instanceof ve?e:new ve(0,"UNEXPECTED",String(e))}var hn="timerbus-token",Se=ae(sessionStorage.getItem(hn)??""),$e=ae(null),Ge=ae(null);function Rt(e){Se.
value=e,e?sessionStorage.setItem(hn,e):sessionStorage.removeItem(hn)}var Dt=ae(0);async function gn(e,t){let r=new Headers(t.headers);Se.value&&r.set("Authoriza\
tion",`Bearer ${Se.value}`);let a;try{a=await fetch(new URL(e,dr),{...t,headers:r,cache:"no-store"})}catch(o){throw t.signal?.aborted?o:new ve(0,"UNREACHABLE","\
The service cannot be reached: it may be stopped, or the network is down.")}let s=Date.parse(a.headers.get("Date")??"");if(!Number.isNaN(s)){let o=s+500-Date.now();
Dt.value=Math.abs(o)>2e3?o:0}return a}async function vn(e){let{status:t,statusText:r}=e,a=await e.json().catch(()=>null),s=Number(e.headers.get("Retry-After"))*
1e3||0;return new ve(t,String(a?.error??`HTTP_${t}`),String(a?.message??`The server answered ${t} ${r}.`),s)}function pr(e){let{rawJSON:t}=JSON;return t?JSON.parse(
e,(a,s,o)=>typeof s=="number"&&o?.source!==void 0&&o.source.length>15?t(o.source):s):JSON.parse(e)}function ft(e){if(!e.trim())return{};try{return{value:pr(e)}}catch(t){
return{error:`The payload is not JSON: ${t.message}`}}}async function Re(e,t,r){let a=await gn("api/v1/"+e,{method:"POST",body:JSON.stringify(t),headers:{"Conte\
nt-Type":"application/json"},signal:r??null});if(!a.ok){let o=await vn(a);throw o.status===401&&(Ge.value=o.message),o}let s=await a.text();return{data:s?pr(s):
void 0,late:a.status===202}}async function O(e,t,r){return(await Re(e,t,r)).data}async function fr(e){let t=await gn("readyz",{signal:e}),r=await t.clone().json().
catch(()=>null);if(r&&(t.ok?typeof r.status=="string":t.status===503&&r.reasons?.length))return r;throw await vn(t)}async function Ot(e){let t=await gn("metrics",
{signal:e});if(!t.ok)throw await vn(t);return t.text()}async function Lt(){let e=await O("caller/get",{});$e.value=e,Ge.value=null}function va(e,t){let r=e.split(
"*").map(a=>a.replace(/[.+?^${}()|[\]\\]/g,"\\$&"));return new RegExp(`^${r.join(".*")}$`,"s").test(t)}function mr(e,t){return $e.value?.grants.some(r=>r.verbs.
includes(e)&&r.namespaces.some(t))??!1}function ce(e,t){return(e==="read"||!ke.readOnly)&&mr(e,r=>va(r,t))}function Ye(e){return(e==="read"||!ke.readOnly)&&mr(e,
t=>t==="*")}var hr=dr.href.replace(/\/$/,"");function gr(e){let[t="",r=""]=e.replace(/^#\/?/,"").split("?",2);return{path:t.split("/").filter(Boolean).map(s=>{try{return decodeURIComponent(s)}catch{return s}}),
query:new URLSearchParams(r)}}var te=ae(gr(location.hash));addEventListener("hashchange",()=>{te.value=gr(location.hash)});function $(e,t={}){let r=Object.entries(
{ns:C.value,...t}).filter(([,a])=>a);return`#/${e.map(encodeURIComponent).join("/")}?${new URLSearchParams(r)}`}function ie(e,t={}){location.hash=$(e,t)}function he(e){
let t=Object.fromEntries(te.value.query);delete t.cursor,ie(te.value.path,{...t,...e})}var vr="timerbus-namespace",C=qe(()=>te.value.query.get("ns")||localStorage.
getItem(vr)||"default");be(()=>{localStorage.setItem(vr,C.value)});var Ft=ae([]),_n=ae(!1);async function It(e){let t=[],r;for(;;){let a=await O("namespaces/lis\
t",{limit:200,cursor:r},e);if(t=t.concat(a.namespaces),r=a.nextCursor,!r||t.length>=1e3)break}return e.aborted||(Ft.value=t,_n.value=r!==void 0),t}function Mt(e,t){
let r=ae(localStorage.getItem(e)??t);return be(()=>{localStorage.setItem(e,r.value)}),r}var _e=Mt("timerbus-zone","local"),De=Mt("timerbus-theme","auto"),Ae=Mt(
"timerbus-live","on"),Ut=Mt("timerbus-shortcuts","on");be(()=>{De.value==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.
theme=De.value});var Pe=ae(null),_r=ae(Date.now());setInterval(()=>{document.hidden||(_r.value=Date.now())},1e3);var yr=qe(()=>_r.value+Dt.value),mt=()=>Date.now()+
Dt.value,Qe=ae([]),_a=1;function ge(e,t="ok"){let r=_a++;Qe.value=[...Qe.value,{id:r,text:e,kind:t}],t==="ok"&&setTimeout(()=>{yn(r)},1e4)}function yn(e){Qe.value=
Qe.value.filter(t=>t.id!==e)}var bn=()=>Intl.DateTimeFormat().resolvedOptions().timeZone,br=new Map;function ya(){return _e.value==="utc"?"UTC":_e.value==="schedule"&&Pe.value?Pe.value:"loc\
al"}var ht=e=>String(e).padStart(2,"0");function pe(e,t=ya()){let r=new Date(e);if(Number.isNaN(r.getTime()))return String(e);switch(t){case"UTC":return r.toISOString().
slice(0,19).replace("T"," ");case"local":return`${String(r.getFullYear()).padStart(4,"0")}-${ht(r.getMonth()+1)}-${ht(r.getDate())} ${ht(r.getHours())}:${ht(r.getMinutes())}\
:${ht(r.getSeconds())}`;default:{let a=br.get(t);return a||(a=new Intl.DateTimeFormat("sv-SE",{dateStyle:"short",timeStyle:"medium",timeZone:t}),br.set(t,a)),a.
format(r)}}}function kr(e){return pe(e).slice(11,16)}function Oe(e){let t=Math.abs(e);if(t<1)return t===0?"0 ms":"< 1 ms";if(t<1e3)return`${Math.round(t)} ms`;let r=t/
1e3;return r<10?`${r.toFixed(1)} s`:r<120?`${Math.round(r)} s`:r<7200?`${Math.round(r/60)} min`:r<172800?`${Math.round(r/3600)} h`:`${Math.round(r/86400)} d`}var He=e=>e===
void 0?"\u2013":Oe(e*1e3);function wr(e,t){let r=(typeof e=="number"?e:Date.parse(e))-t,a=Math.abs(r);if(a<500)return"now";let s=a<12e4?`${Math.round(a/1e3)} s`:
Oe(a);return r>0?`in ${s}`:`${s} ago`}var ba=new Intl.NumberFormat("en-US"),P=e=>ba.format(e);function oe(e,t){return`${P(e)} ${t}${e===1?"":"s"}`}var ka={ns:1e-6,
us:.001,\u00B5s:.001,ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function kn(e){let t=0;for(let[,r="0",a="ms"]of e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))t+=Number(
r)*(ka[a]??0);return t}function G(e){if(!e)return"";let[,t]=/^(\d+)h(?:0m0s)?$/.exec(e)??[];return t&&Number(t)>24&&Number(t)%24===0?`${Number(t)/24}d`:e.replace(
/(\d+h)0m0s$/,"$1").replace(/(\d+m)0s$/,"$1")}function qt(e){return[e.rate&&`${P(e.rate.count)} per ${G(e.rate.per)}`,e.concurrency&&`${P(e.concurrency)} at a t\
ime`].filter(Boolean).join(", ")}var we=()=>_e.value==="utc"?"UTC":"local";function Le(e){return e?pe(e,_e.value==="utc"?"UTC":"local").replace(" ","T"):""}function fe(e){
if(!e)return;let t=new Date(_e.value==="utc"?`${e}Z`:e);return Number.isNaN(t.getTime())?void 0:t.toISOString()}function Ht(e){let[,t]=/^[^/?#]*\/\/([^/?#]*)/.exec(
e)??[];return t===void 0?e:t.slice(t.lastIndexOf("@")+1).toLowerCase()}function jt(e){return/^[A-Za-z0-9_@%+=:,./-]+$/.test(e)?e:`'${e.replaceAll("'","'\\''")}'`}var wa=Symbol.for("pv"),xa=0;function n(e,t,r,a,s,o){t||(t={});var i,l,c=t;if("ref"in c&&typeof e!="function")for(l in c={},t)l=="ref"?i=t[l]:c[l]=t[l];var p={type:e,props:c,key:r,ref:i,__k:null,
__:null,__b:0,__e:null,__c:null,constructor:wa,__v:--xa,__i:-1,__u:0};return(s||o)&&(p.__source=s,p.__self=o),D.vnode&&D.vnode(p),p}var xr=!1;function z({title:e,crumb:t,actions:r,children:a}){let s=Y(null);return K(()=>{document.title=`${e} \xB7 Timerbus`},[e]),K(()=>{xr&&(s.current?.focus(
{preventScroll:!0}),scrollTo(0,0)),xr=!0},[]),n(y,{children:[n("div",{class:"page-head",children:[n("div",{class:"page-title",children:[t&&n("div",{class:"crumb",
children:t}),n("h1",{tabIndex:-1,ref:s,children:e})]}),r&&n("div",{class:"actions",children:r})]}),a]})}function N({title:e,aside:t,children:r,wide:a,flush:s}){
let o=lt();return n("section",{class:`card${a?" wide":""}${s?" flush":""}`,"aria-labelledby":e?o:void 0,children:[e&&n("div",{class:"card-head",children:[n("h2",
{id:o,children:e}),t]}),r]})}function ne({kind:e,children:t}){return n("span",{class:`badge ${e}`,children:t})}var Ee=({status:e})=>n(ne,{kind:e,children:e});function L({
at:e,only:t}){if(!e)return n("span",{class:"muted",children:"\u2013"});let r=pe(e);if(t==="absolute")return n("time",{dateTime:e,title:e,children:r});let a=wr(e,
yr.value);return t==="relative"?n("time",{dateTime:e,title:r,children:a}):n("time",{dateTime:e,title:e,class:"time",children:[n("span",{children:r})," ",n("span",
{class:"muted",children:a})]})}function w({kind:e="",...t}){return n("button",{type:"button",...t,class:`button ${e}`})}function wn({text:e,label:t="Copy"}){let[
r,a]=h(!1);K(()=>{if(!r)return;let o=setTimeout(()=>{a(!1)},2e3);return()=>{clearTimeout(o)}},[r]);let s=async()=>{try{await navigator.clipboard.writeText(e)}catch{
let o=document.createElement("textarea");o.value=e,document.body.append(o),o.select();let i=document.execCommand("copy");if(o.remove(),!i)return}a(!0)};return n(
w,{kind:"small",onClick:()=>{s()},children:r?"Copied":t})}function gt({text:e,label:t}){return n("div",{class:"command",children:[n("pre",{tabIndex:0,"aria-labe\
l":t,children:n("code",{children:e})}),n(wn,{text:e})]})}function I({title:e,children:t,command:r}){return n("div",{class:"empty",children:[n("p",{class:"empty-\
title",children:e}),t&&n("p",{class:"muted",children:t}),r&&n(gt,{text:r,label:"Command"})]})}var Ca={UNREACHABLE:"Not reachable",INCOMPLETE:"Not sent",401:"Not\
 signed in",403:"Not allowed",404:"Not found",409:"Changed or existing",429:"Too many requests",503:"Not available",504:"Outcome unknown"};function me({error:e,
again:t}){return n("div",{class:"error",role:"alert",children:[n("div",{children:[n("strong",{children:Ca[e.status||e.code]??"Failed"})," ",n("code",{children:[
e.status||""," ",e.code]}),n("p",{children:e.message})]}),t&&n(w,{kind:"small",onClick:t,children:"Try again"})]})}function U({of:e,children:t}){return n(y,{children:[
e.error&&n(me,{error:e.error,again:e.again}),e.data!==void 0?t(e.data):e.loading&&n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"\
Loading"})})]})}function je({title:e,close:t,children:r}){let a=Y(null),s=lt();return K(()=>{let o=a.current,i=document.activeElement;return o?.showModal(),()=>{
o?.close(),i?.focus()}},[]),n("dialog",{ref:a,"aria-labelledby":s,onCancel:o=>{o.preventDefault(),t()},children:[n("div",{class:"dialog-head",children:[n("h2",{
id:s,children:e}),n(w,{kind:"icon","aria-label":"Close",onClick:t,children:"\u2715"})]}),r]})}function Cr({label:e,hint:t,children:r,error:a}){let s=lt(),o=t||a?
`${s}-hint`:void 0;return n("div",{class:"field",children:[n("label",{for:s,children:e}),r(s,o),(t||a)&&n("p",{id:o,class:a?"hint bad":"hint",children:a??t})]})}
function B({label:e,value:t,set:r,hint:a,error:s,type:o="text",placeholder:i,required:l,mono:c,step:p}){return n(Cr,{label:e,hint:a,error:s,children:(u,d)=>n("i\
nput",{id:u,type:o,value:t,placeholder:i,required:l,step:p,spellcheck:!1,autocomplete:"off",class:c?"mono":"","aria-describedby":d,"aria-invalid":s?!0:void 0,onInput:m=>{
r(m.currentTarget.value)}})})}function vt({label:e,value:t,set:r,hint:a,error:s,rows:o=5}){return n(Cr,{label:e,hint:a,error:s,children:(i,l)=>n("textarea",{id:i,
rows:o,value:t,class:"mono",spellcheck:!1,"aria-describedby":l,"aria-invalid":s?!0:void 0,onInput:c=>{r(c.currentTarget.value)}})})}function le({label:e,value:t,
set:r,options:a,hint:s}){let o=lt();return n("div",{class:"field",children:[n("label",{for:o,children:e}),n("select",{id:o,value:t,onChange:i=>{r(i.currentTarget.
value)},children:a.map(([i,l])=>n("option",{value:i,selected:i===t,children:l},i))}),s&&n("p",{class:"hint",children:s})]})}function xe({of:e}){return n("dl",{class:"\
facts",children:e.filter(([,t])=>t!==void 0&&t!==""&&t!==null).map(([t,r])=>n("div",{children:[n("dt",{children:t}),n("dd",{children:r})]},t))})}function re({caption:e,
head:t,children:r,stack:a}){return n("div",{class:"table-wrap",tabIndex:0,role:"group","aria-label":e,children:n("table",{class:a?"stack":"",children:[n("captio\
n",{class:"sr",children:e}),n("thead",{children:n("tr",{children:t.map((s,o)=>n("th",{scope:"col",children:s},o))})}),n("tbody",{children:r})]})})}function Xe({
value:e,label:t}){return n(gt,{text:typeof e=="string"?e:JSON.stringify(e,null,2),label:t})}function Zt({of:e}){return e&&n("div",{class:"callout",children:["Pa\
used",e.by&&` by ${e.by}`," ",n(L,{at:e.at}),e.note&&`: ${e.note}`]})}function Tr({bars:e,label:t,every:r}){let a=Ta(Math.max(1,...e.map(i=>i.value))),s=1e3/Math.
max(1,e.length),o=i=>100*(1-i/a);return n(y,{children:[n("div",{class:"chart",role:"img","aria-label":t,children:[n("svg",{viewBox:"0 0 1000 100",preserveAspectRatio:"\
none","aria-hidden":"true",children:[[0,a/2,a].map(i=>n("line",{x1:"0",x2:"1000",y1:o(i),y2:o(i)},i)),e.map((i,l)=>i.value>0&&n("rect",{x:l*s+s*.08,width:s*.84,
y:Math.min(o(i.value),99),height:Math.max(1,100-o(i.value)),children:n("title",{children:i.title})},l))]}),[0,a/2,a].map(i=>n("span",{class:"y","aria-hidden":"t\
rue",style:{top:`${o(i)}%`},children:zt(i)},i)),e.map((i,l)=>l%r===0&&n("span",{class:"x","aria-hidden":"true",style:{left:`${l*s/10}%`},children:i.label},l))]}),
n("details",{class:"as-table",children:[n("summary",{children:"As a table"}),n(re,{caption:t,head:["From","Timers"],children:e.filter(i=>i.value>0).map(i=>n("tr",
{children:[n("td",{children:i.label}),n("td",{class:"num",children:i.value})]},i.label+i.title))})]})]})}function Ta(e){let t=10**Math.floor(Math.log10(e));for(let r of[
1,1.2,1.6,2,3,4,5,6,8,10])if(r*t>=e)return Math.max(2,r*t);return e}function zt(e){return e>=1e6?`${+(e/1e6).toFixed(1)}M`:e>=1e3?`${+(e/1e3).toFixed(1)}k`:String(
+e.toFixed(1))}function Sa({values:e}){if(e.length<2)return n("svg",{class:"spark",viewBox:"0 0 100 24","aria-hidden":"true"});let t=Math.max(...e,1e-9),r=e.map(
(a,s)=>`${(s/(e.length-1)*100).toFixed(1)},${(22-a/t*20).toFixed(1)}`);return n("svg",{class:"spark",viewBox:"0 0 100 24",preserveAspectRatio:"none","aria-hidde\
n":"true",children:[n("polygon",{points:`0,24 ${r.join(" ")} 100,24`,class:"area"}),n("polyline",{points:r.join(" "),class:"line"})]})}function Q({label:e,value:t,
hint:r,kind:a="",spark:s,href:o}){let i=n(y,{children:[n("span",{class:"tile-label",children:e}),n("span",{class:"tile-value",children:t}),n("span",{class:"tile\
-hint",children:r}),s&&n(Sa,{values:s})]});return o?n("a",{class:`tile ${a}`,href:o,children:i}):n("div",{class:`tile ${a}`,children:i})}function et(){let e=Y(!1);return K(()=>()=>{e.current=!0},[]),e}function ue({title:e,children:t,verb:r,danger:a,path:s,body:o,done:i,close:l,after:c}){let[p,u]=h(),
[d,m]=h(!1),f=et(),v=async()=>{let T=o();if(typeof T=="string"){u(new ve(0,"INCOMPLETE",T));return}m(!0);try{let{late:_}=await Re(s,T);if(ge(_?`${i} An earlier \
delivery may have been sent.`:i,_?"warn":"ok"),f.current)return;l(),c()}catch(_){let b=se(_);f.current&&ge(`${e}: ${b.message}`,"warn"),u(b),m(!1)}};return n(je,
{title:e,close:l,children:n("form",{onSubmit:T=>{T.preventDefault(),v()},children:[t,p&&n(me,{error:p}),p&&/^(GENERATION|VERSION)_CONFLICT$/.test(p.code)&&n("p",
{class:"hint",children:"It has changed since it was shown. Close this dialog; the page shows the present state."}),n("div",{class:"dialog-foot",children:[n(w,{onClick:l,
children:"Cancel"}),n("button",{type:"submit",class:`button ${a?"danger":"primary"}`,disabled:d,children:d?"Sending\u2026":r})]})]})})}var Sr=250;function Wt(e,t){
return async(r,a)=>{let s=0,o=0;for(let i;;){let{data:l}=await Re(e,{...t,dryRun:!0,limit:Sr,cursor:i},r);if(a(s+=l.applied),o+=l.skipped,i=l.nextCursor,!i)return{
n:s,more:!1,skipped:o}}}}async function Ze(e,t,r,a=()=>{}){let s=0,o=!1;for(let i of t){if(!e.correlationId){let c=await O("timers/count",{...e,status:i},r);s+=
c.count,o||=c.truncated;continue}let l;do{let c=await O("timers/list",{...e,status:i,limit:1e3,cursor:l},r);a(s+=c.timers.length),l=c.nextCursor}while(l)}return{
n:s,more:o}}function tt({action:e,close:t,after:r}){let[a,s]=h("ask"),[o,i]=h(),[l,c]=h(0),[p,u]=h({matched:0,applied:0,late:0,skipped:0,pages:0}),[d,m]=h(),f=Y(
new AbortController),v=Y(void 0),T=Y(!1),_=et();K(()=>()=>{T.current=!0,f.current.abort()},[]);let b=async()=>{s("counting"),m(void 0),f.current=new AbortController;
try{i(await e.count(f.current.signal,c)),s("counted")}catch(E){if(f.current.signal.aborted)return;m(se(E)),s("ask")}},k=async()=>{s("running"),m(void 0),T.current=
!1;let E=p;try{do{let{data:R}=await Re(e.path,{...e.filter,limit:Sr,cursor:v.current});v.current=R.nextCursor,E={matched:E.matched+R.matched,applied:E.applied+R.
applied,late:E.late+(R.late??0),skipped:E.skipped+R.skipped,pages:E.pages+1},u(E)}while(v.current&&!T.current);s(v.current?"cancelled":"ended"),_.current&&ge(`${e.
title}: ${v.current?"stopped, ":""}${x(E)}.`,v.current?"warn":"ok")}catch(R){m(se(R)),s("failed"),_.current&&ge(`${e.title}: failed, ${x(E)}: ${se(R).message}`,
"warn")}r()},g=o&&!o.more?o.n+(o.skipped??0):void 0,x=E=>`${oe(E.applied,"timer")} ${e.done}`+(E.late?` (an earlier delivery of ${P(E.late)} may have been sent)`:
"")+(E.skipped?`, ${P(E.skipped)} skipped`:"");return n(je,{title:e.title,close:t,children:[n("p",{children:e.describe}),a==="counting"&&n("p",{role:"status",children:[
"Counting\u2026 ",l>0&&P(l)]}),a==="counted"&&o&&n("p",{role:"status",class:"callout",children:["Dry run: ",o.more?"at least ":"",oe(o.n,"timer")," would be ",e.
done,o.skipped?`, ${P(o.skipped)} would be skipped, because they were retried before`:"",". Nothing was changed."]}),p.pages>0&&n("div",{class:"progress-wrap",children:[
(a==="running"||g!==void 0)&&n("progress",{max:g||1,value:g===void 0?void 0:o?.skipped===void 0?p.applied:p.matched,"aria-label":"Progress"}),n("p",{role:"statu\
s",children:[a==="running"?"Working: ":a==="ended"?"Finished: ":a==="cancelled"?"Cancelled: ":"Stopped: ",x(p),a==="cancelled"&&". The others were not changed."]})]}),
d&&n(me,{error:d}),n("div",{class:"dialog-foot",children:[a==="running"?n(w,{kind:"danger",onClick:()=>{T.current=!0},children:"Cancel"}):n(w,{onClick:t,children:"\
Close"}),(a==="ask"||a==="counted")&&n(w,{onClick:()=>{b()},children:"Dry run"}),(a==="ask"||a==="counted")&&n(w,{kind:e.danger?"danger":"primary",onClick:()=>{
k()},children:[e.verb," ",o?o.more?"all":P(o.n):"all"]}),(a==="cancelled"||a==="failed")&&n(w,{kind:"primary",onClick:()=>{k()},children:"Continue"})]})]})}function $a(e){let t=[];for(let r of e.split(`
`)){if(!r.startsWith("timerbus_"))continue;let a=/^(\w+)(?:\{(.*)\})? (\S+)/.exec(r);if(!a)continue;let s={};for(let[,o="",i=""]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
s[o]=i.replace(/\\(.)/g,(l,c)=>c==="n"?`
`:c);t.push({name:a[1].slice(9),labels:s,value:Number(a[3].replace("Inf","Infinity"))})}return t}var nt=class{at=performance.now();byName=new Map;constructor(t){
for(let r of $a(t)){let a=this.byName.get(r.name);a?a.push(r):this.byName.set(r.name,[r])}}sum(t,r={}){let a=this.byName.get(t)?.filter(s=>Object.entries(r).every(
([o,i])=>s.labels[o]===i));return a?.length?a.reduce((s,o)=>s+o.value,0):void 0}by(t,r,a={}){let s=new Map;for(let o of this.byName.get(t)??[]){if(!Object.entries(
a).every(([l,c])=>o.labels[l]===c))continue;let i=o.labels[r]??"";s.set(i,(s.get(i)??0)+o.value)}return s}quantile(t,r,a,s={}){if(!a)return;let o=a.by(`${r}_buc\
ket`,"le",s),i=[...this.by(`${r}_bucket`,"le",s)].map(([d,m])=>[d==="+Inf"?1/0:Number(d),m-(o.get(d)??0)]).sort((d,m)=>d[0]-m[0]),l=i.at(-1)?.[1]??0;if(l<=0)return;
let c=t*l,p=0,u=0;for(let[d,m]of i){if(m>=c)return d===1/0?p:p+(d-p)*(m===u?1:(c-u)/(m-u));p=d,u=m}return p}},$r=6e4,rt=class{constructor(t){this.counter=t}counter;scrapes=[];add(t){
let r=t.sum(this.counter)??0;for(this.scrapes=this.scrapes.filter(a=>t.at-a.at<=2*$r&&(a.sum(this.counter)??0)<=r),this.scrapes.push(t);this.scrapes.length>2&&t.
at-this.scrapes[1].at>$r;)this.scrapes.shift();return this.scrapes.length>1?this.scrapes[0]:void 0}};var Aa=6e4,Pa=100;function F(e,t,r,a=!1){let[s,o]=h({key:""}),[i,l]=h(0),c=Y(r);c.current=r,Tt(()=>{if(e==="")return;let u=new AbortController,d=0,m=0,f=!1,v=0,
T=()=>{clearTimeout(d),Ae.value==="on"&&(d=window.setTimeout(()=>{_()},Math.max(0,v-performance.now())))},_=async()=>{if(f||u.signal.aborted||document.hidden&&d!==
0)return;f=!0;let g=0,x=performance.now();try{let R=await c.current(u.signal);if(u.signal.aborted)return;m=0,o({key:e,data:R})}catch(R){if(u.signal.aborted)return;
m++;let X=se(R);if(g=Math.max(X.retryAfter,Math.min(Aa,t*2**m)),o(j=>j.key===e&&j.data!==void 0?{key:e,data:j.data,error:X}:{key:e,error:X}),X.status>=400&&X.status<
500&&X.status!==429)return}finally{f=!1}let E=a?Math.max(t,Pa*(performance.now()-x)):t;v=performance.now()+Math.max(E,g),T()},b=()=>{document.hidden||f||(a||(v=
0),T())};document.addEventListener("visibilitychange",b),_();let k=Ae.subscribe(b);return()=>{u.abort(),clearTimeout(d),k(),document.removeEventListener("visibi\
litychange",b)}},[e,t,i]);let p=s.key===e?s:{key:e};return{data:p.data,error:p.error,loading:e!==""&&p.data===void 0&&p.error===void 0,again:()=>{l(u=>u+1)}}}var Ar=60;function Ea(){let e=Y(new rt("dispatcher_fires_total")),t=Y({fires:[],lateness:[]}),r=Ye("read"),a=F(r?"metrics":"",3e3,async p=>{let u=new nt(await Ot(
p)),d=e.current.add(u),m=u.sum("dispatcher_fires_total"),f=u.sum("timers_pending"),v=d&&m!==void 0?1e3*Math.max(0,m-(d.sum("dispatcher_fires_total")??0))/(u.at-
d.at):void 0,T=b=>u.quantile(b,"dispatcher_lateness_seconds",d),_={lateness50:T(.5),lateness99:T(.99),fires:v,pending:f,overdue:u.sum("timers_overdue"),dead:u.sum(
"timers_dead"),held:f===void 0?void 0:(u.sum("timers_paused")??0)+(u.sum("timers_parked")??0),oldest:u.sum("timers_oldest_overdue_seconds"),whole:f!==void 0,local:m!==
void 0};return v!==void 0&&(t.current.fires=[...t.current.fires,v].slice(-Ar)),_.lateness99!==void 0&&(t.current.lateness=[...t.current.lateness,_.lateness99].slice(
-Ar)),_}),s=!r||a.data?.whole===!1,o=F(s?`counts/${C.value}`:"",3e4,Na,!0),i=r?a:{...o,data:o.data&&{...o.data,whole:!1,local:!1}},l=i.data&&{...i.data,...o.data},
c=()=>{a.again(),o.again()};return{poll:{...i,data:l,error:i.error??o.error,again:c},series:t.current,everywhere:r}}async function Na(e){let t=!1,r=C.value,a=async(p,u)=>{
let{n:d,more:m}=await Ze({namespace:r,dueBefore:u},p,e);return t||=m,d},s=new Date(mt()).toISOString(),[o,i,l,c]=await Promise.all([a(["scheduled","retrying"]),
a(["scheduled","retrying"],s),a(["dead"]),a(["paused","parked"])]);return{pending:o,overdue:i,dead:l,held:c,least:t}}var Jt=(e,t)=>t===void 0?"\u2013":n(y,{children:[
e.least&&n("small",{children:"at least "}),zt(t)]});function Ba({of:e}){let t=e.reasons??[],r=e.degraded??[],a=t.length?"dead":r.length?"retrying":"done";return n(
"div",{class:`health ${a}`,role:"status",children:[n(ne,{kind:a,children:t.length?"not ready":r.length?"degraded":"healthy"}),t.length===0&&r.length===0&&n("spa\
n",{children:"Requests are served, and all parts work."}),n("ul",{children:[t.map(s=>n("li",{children:s},s)),r.map(s=>n("li",{children:[n("strong",{children:s.part}),
": ",s.reason,", ",n(L,{at:s.since})]},s.part))]})]})}var xn=[["24h","24 hours",24,30],["1h","1 hour",1,1],["7d","7 days",168,240]];function Ra(){let[e,t]=h("24\
h"),[,r,a,s]=xn.find(([l])=>l===e)??xn[0],o=F(`forecast/${C.value}/${e}`,6e4,l=>{let c=s*6e4,p=Math.floor(mt()/c)*c;return O("timers/forecast",{namespace:C.value,
from:new Date(p).toISOString(),to:new Date(p+a*36e5).toISOString(),bucket:`${s}m`},l)},!0),i=n("div",{class:"segments",role:"group","aria-label":"Range of the f\
orecast",children:xn.map(([l,c])=>n("button",{type:"button","aria-pressed":e===l,onClick:()=>{t(l)},children:c},l))});return n(N,{title:"Forecast",aside:i,wide:!0,
children:n(U,{of:o,children:l=>{let c=Date.parse(l.from),p=l.counts.reduce((d,m)=>d+m,0),u=l.counts.map((d,m)=>{let f=c+m*s*6e4;return{label:a>24?pe(f).slice(5,
16):kr(f),value:d,title:`${pe(f)}: ${oe(d,"timer")}`}});return n(y,{children:[n("p",{class:"muted",children:[oe(p,"timer")," of ",C.value," due in the next ",r,
l.truncated&&`, counted until ${pe(l.completeBefore)}`]}),p===0?n(I,{title:"Nothing is due in this time.",command:`timerbus timer create hello --in 1h -n ${C.value}`,
children:"Create a timer:"}):n(Tr,{bars:u,every:Math.ceil(u.length/(innerWidth<600?4:8)),label:`Timers due in the next ${r}, for each ${s} minutes: ${p} in all`})]})}})})}
function Vt(e){return e.callbackUrl?Ht(e.callbackUrl):e.topic?`topic ${e.topic}`:"event"}function Da(){let e=F(`next/${C.value}`,3e3,t=>O("timers/list",{namespace:C.
value,order:"due",limit:8},t));return n(N,{title:"Due next",aside:n("a",{href:$(["timers"]),children:"All timers"}),flush:!0,children:n(U,{of:e,children:({timers:t})=>t.
length===0?n(I,{title:"No timer waits.",command:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${C.value}`,children:"Create one, \
here or with the CLI:"}):n(re,{caption:"Timers that are due next",head:["Due","Timer","Target","Status"],children:t.map(r=>n("tr",{children:[n("td",{children:n(
L,{at:r.dueAt,only:"relative"})}),n("td",{class:"id",children:n("a",{href:$(["timers",r.id]),children:r.id})}),n("td",{class:"clip",children:Vt(r)}),n("td",{children:n(
Ee,{status:r.status})})]},r.uuid))})})})}function Oa(){let e=F(`failed/${C.value}`,1e4,t=>O("timers/list",{namespace:C.value,status:"dead",limit:8},t));return n(
N,{title:"Dead letters",aside:n("a",{href:$(["dead"]),children:"By reason"}),flush:!0,children:n(U,{of:e,children:({timers:t})=>t.length===0?n(I,{title:"No time\
r is dead.",children:"Timers whose retry policy has ended appear here."}):n(re,{caption:"Some dead timers",head:["Timer","Target","Error"],children:t.map(r=>n("\
tr",{children:[n("td",{class:"id",children:n("a",{href:$(["timers",r.id]),children:r.id})}),n("td",{class:"clip",children:Vt(r)}),n("td",{class:"clip",title:r.lastError,
children:r.lastError})]},r.uuid+r.generation))})})})}function Pr(){let e=F("health",5e3,fr),{poll:t,series:r,everywhere:a}=Ea(),s=t.data,o=s&&!s.whole?`namespac\
e ${C.value}`:"cluster";return n(z,{title:"Overview",children:[n(U,{of:e.error?{...e,data:void 0}:e,children:i=>n(Ba,{of:i})}),n(U,{of:t,children:i=>n(y,{children:[
n("div",{class:"tiles",children:[n(Q,{label:"Lateness p50",value:He(i.lateness50),hint:"start of the attempt",kind:i.lateness50!==void 0&&i.lateness50>5?"warn":
""}),n(Q,{label:"Lateness p99",value:He(i.lateness99),hint:"last minute",kind:i.lateness99!==void 0&&i.lateness99>10?"warn":"",spark:r.lateness}),n(Q,{label:"Fi\
res",value:i.fires===void 0?"\u2013":`${zt(i.fires)}/s`,hint:"last minute",spark:r.fires}),n(Q,{label:"Pending",value:Jt(i,i.pending),hint:(i.pending??0)<1e3?"s\
cheduled, retrying":P(i.pending??0),href:$(["timers"])}),n(Q,{label:"Backlog",value:Jt(i,i.overdue),hint:i.oldest?`oldest ${He(i.oldest)}`:"overdue timers",kind:(i.
oldest??0)>10?"warn":""}),n(Q,{label:"Dead",value:Jt(i,i.dead),hint:i.whole?"can be retried":"in the history",kind:i.dead?"bad":"",href:$(["dead"])}),n(Q,{label:"\
Paused, parked",value:Jt(i,i.held),hint:o,href:$(["timers"],{status:"paused"})})]}),!i.local&&n("p",{class:"callout",children:a?n(y,{children:["This process del\
ivers no timers, so it has no lateness and fires. Dispatchers export them at ",n("code",{children:"/metrics"}),"; the Grafana dashboard shows all processes."]}):
n(y,{children:"Lateness and fires need the right to read all namespaces."})})]})}),n("div",{class:"grid",children:[n(Ra,{}),n(Da,{}),n(Oa,{})]})]})}var La=50,Fa=[["","Live (all that are not finished)"],["scheduled","Scheduled"],["retrying","Retrying"],["paused","Paused"],["parked","Parked"],["done","Done"],
["dead","Dead"]];function Cn({timers:e,caption:t}){return n(re,{caption:t,head:["Timer","Status","Due","Target","Attempts","Last error"],stack:!0,children:e.map(
r=>n("tr",{children:[n("td",{class:"id","data-label":"Timer",children:n("a",{href:$(["timers",r.id]),children:r.id})}),n("td",{"data-label":"Status",children:n(
Ee,{status:r.status})}),n("td",{"data-label":"Due",children:n(L,{at:r.status==="done"||r.status==="dead"?r.executeAt:r.dueAt})}),n("td",{class:"clip","data-labe\
l":"Target",title:r.callbackUrl??r.topic,children:Vt(r)}),n("td",{class:"num","data-label":"Attempts",children:r.attempts}),n("td",{class:"clip","data-label":"L\
ast error",title:r.lastError,children:r.lastError??n("span",{class:"muted",children:"\u2013"})})]},r.uuid+r.generation))})}function Er(){let e=te.value.query,t=e.
get("status")??"",r=e.get("correlationId")??"",a=e.get("dueFrom")??"",s=e.get("dueBefore")??"",o=e.get("cursor")??"",i=(t===""||t==="scheduled"||t==="retrying")&&
!r,[l,c]=h(""),[p,u]=h(null),d={namespace:C.value,status:t||void 0,correlationId:r||void 0,dueFrom:a||void 0,dueBefore:s||void 0},m=JSON.stringify([d,i,o]),f=F(
m,o?1e4:3e3,g=>O("timers/list",{...d,order:i?"due":"key",limit:La,cursor:o||void 0},g)),v=F(r?"":JSON.stringify(d),3e4,g=>Ze(d,[d.status],g),!0),T=ce("write",C.
value),_=g=>{let x={pause:["Pause timers","Pause","paused"],resume:["Resume timers","Resume","resumed"],delete:["Delete timers","Delete","deleted"],retry:["Retr\
y timers","Retry","started again"],purge:["Delete from history","Delete","removed from history"]},[E,R,X]=x[g],{status:j,...de}=d,q=g==="resume"?de:d,M=`timers/${g}\
-matching`,Z=g==="resume"?["paused"]:g==="pause"&&!t?["scheduled","retrying"]:[d.status];u({title:E,verb:R,done:X,path:M,filter:q,danger:g==="delete"||g==="purg\
e",describe:n(y,{children:["All timers of ",n("strong",{children:C.value})," that this page\u2019s filter selects, not only those of the shown page."]}),count:g===
"retry"||g==="purge"?Wt(M,q):(W,A)=>Ze(d,Z,W,A)})},b=!!(t||r||a||s),k=T&&n(y,{children:[(t===""||t==="scheduled"||t==="retrying")&&n(w,{onClick:()=>{_("pause")},
children:"Pause all\u2026"}),(t===""||t==="paused")&&n(w,{onClick:()=>{_("resume")},children:"Resume all\u2026"}),(t==="dead"||t==="parked")&&n(w,{onClick:()=>{
_("retry")},children:"Retry all\u2026"}),(t==="dead"||t==="done")&&n(w,{onClick:()=>{_("purge")},children:"Delete all\u2026"}),t!=="dead"&&t!=="done"&&b&&n(w,{onClick:()=>{
_("delete")},children:"Delete all\u2026"}),n("a",{class:"button primary",href:$(["new","timer"]),children:"Create timer"})]});return n(z,{title:"Timers",actions:k,
children:[n("form",{class:"filters",role:"search",onSubmit:g=>{g.preventDefault(),l.trim()&&ie(["timers",l.trim()])},children:[n("div",{class:"field",children:[
n("label",{for:"open",children:"Open by id"}),n("div",{class:"joined",children:[n("input",{id:"open","data-search":!0,type:"search",value:l,placeholder:"order-1\
842",spellcheck:!1,onInput:g=>{c(g.currentTarget.value)}}),n("button",{type:"submit",class:"button",children:"Open"})]})]}),n(le,{label:"Status",value:t,options:Fa,
set:g=>{he({status:g})}}),n(ze,{label:"Correlation id",value:r,set:g=>{he({correlationId:g})}}),n(ze,{label:`Due from (${we()})`,type:"datetime-local",value:Le(
a),set:g=>{he({dueFrom:fe(g)})}}),n(ze,{label:"Due before",type:"datetime-local",value:Le(s),set:g=>{he({dueBefore:fe(g)})}}),(b||o)&&n(w,{kind:"ghost",onClick:()=>{
ie(["timers"])},children:"Clear"})]}),n(N,{flush:!0,wide:!0,children:n(U,{of:f,children:g=>n(y,{children:[g.timers.length===0?n(I,{title:b||o?"No timer matches.":
"There are no timers in this namespace.",command:b||o?void 0:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${C.value}`,children:b||
o?g.nextCursor?"This page is empty; the next one may not be.":"Change the filter, or clear it.":"Create the first one, here or with the CLI:"}):n(Cn,{timers:g.timers,
caption:"Timers"}),n("div",{class:"pager",children:[n("span",{class:"muted",role:"status",children:[v.data&&`${v.data.more?"at least ":""}${P(v.data.n)} in all`,
v.error&&`counting failed: ${v.error.message}`,i?"the next due first":"in a fixed order"].filter(Boolean).join(", ")}),n("span",{class:"pager-buttons",children:[
o&&n("a",{class:"button",href:$(["timers"],{...Object.fromEntries(e),cursor:void 0}),children:"First page"}),g.nextCursor&&n("a",{class:"button",href:$(["timers"],
{...Object.fromEntries(e),cursor:g.nextCursor}),children:"Next page"})]})]})]})})}),p&&n(tt,{action:p,close:()=>{u(null)},after:()=>{f.again(),v.again()}})]})}function ze({
label:e,value:t,set:r,type:a}){let[s,o]=h(t),[i,l]=h(t);i!==t&&(l(t),o(t));let c=()=>{s!==t&&r(s)};return n("div",{onFocusOut:c,onKeyDown:p=>{p.key==="Enter"&&(p.
preventDefault(),c())},children:n(B,{label:e,value:s,set:o,type:a,step:a?"1":void 0})})}var Ia=5e3,Ma=500,Ua=20,Tn=100;function qa(e,t){for(let r of t){let a=r.callbackUrl?Ht(r.callbackUrl):"",s=r.lastError??"",o=`${a}\0${s}`,i=e.groups.get(o);i||(i=
{host:a,error:s,status:r.lastStatusCode,timers:[],count:0,oldest:r.executeAt,newest:r.executeAt},e.groups.set(o,i)),i.count++,i.timers.length<Ua&&i.timers.push(
r),r.executeAt<i.oldest&&(i.oldest=r.executeAt),r.executeAt>i.newest&&(i.newest=r.executeAt)}e.read+=t.length}var Sn=e=>e.host||"no URL";async function Nr(e,t,r,a){
let s=e?{...e,groups:new Map([...e.groups].map(([i,l])=>[i,{...l,timers:[...l.timers]}]))}:{groups:new Map,read:0,cursor:void 0},o=s.read+Ia;do{let i=await O("t\
imers/list",{...t,limit:Ma,cursor:s.cursor},r);qa(s,i.timers),s.cursor=i.nextCursor,r.aborted||a({...s})}while(s.cursor&&s.read<o);return s}function Ha({of:e}){
let[t,r]=h(e.timers);return K(()=>{let a=new AbortController,s=o=>O("timers/get",{namespace:o.namespace,id:o.id},a.signal).then(i=>i.generation===o.generation?o:
{...o,status:i.status},()=>o);return Promise.all(e.timers.map(s)).then(o=>{a.signal.aborted||r(o)}),()=>{a.abort()}},[e.timers.map(a=>a.uuid+a.generation).join()]),
n(Cn,{timers:t,caption:`Dead timers of ${Sn(e)}`})}function Br(){let e=te.value.query,t=e.get("correlationId")??"",r=e.get("dueFrom")??"",a=e.get("dueBefore")??
"",s=C.value,o={namespace:s,status:"dead",correlationId:t||void 0,dueFrom:r||void 0,dueBefore:a||void 0},i=JSON.stringify(o),[l,c]=h(),[p,u]=h(),d=p?.key===i?p:
void 0,[m,f]=h(),[v,T]=h(null),[_,b]=h(0),k=F(d?"":i,1e4,A=>Nr(void 0,o,A,S=>{k.data||c({key:i,read:S})}),!0),g=d?.read??k.data??(l?.key===i?l.read:void 0),x=d?.
busy??k.loading,E=d?d.error:k.error,R=Y(new AbortController);K(()=>()=>{R.current.abort()},[i]);let X=async A=>{R.current=new AbortController;let{signal:S}=R.current,
ye=A;u({key:i,read:ye,busy:!0});try{ye=await Nr(A,o,S,Ce=>{ye=Ce,u({key:i,read:ye,busy:!0})}),S.aborted||u({key:i,read:ye,busy:!1})}catch(Ce){S.aborted||u({key:i,
read:ye,busy:!1,error:se(Ce)})}},j=()=>{R.current.abort(),u(void 0),b(A=>A+1),k.again()},de=(A,S)=>{let ye=S?{...o,callbackHost:S.host,lastError:S.error}:o,Ce=`\
timers/${A}-matching`;T({title:A==="retry"?"Retry dead timers":"Delete dead timers",verb:A==="retry"?"Retry":"Delete",done:A==="retry"?"started again":"removed \
from history",path:Ce,filter:ye,danger:A==="purge",describe:S?n(y,{children:["All dead timers of ",n("strong",{children:s})," that ",S.host?n(y,{children:["call\
 ",n("strong",{children:S.host})]}):"have no URL"," and failed with ",n("q",{children:S.error}),"."]}):n(y,{children:["All dead timers of ",n("strong",{children:s}),
" that this page\u2019s filter selects, also those that were not read yet."]}),count:Wt(Ce,ye)})},q=ce("write",s),M=g?[...g.groups].sort(([,A],[,S])=>S.count-A.
count):[],Z=!!(t||r||a),W=q&&M.length>0&&n(y,{children:[n(w,{kind:"primary",onClick:()=>{de("retry")},children:"Retry all\u2026"}),n(w,{kind:"danger-ghost",onClick:()=>{
de("purge")},children:"Delete all\u2026"})]});return n(z,{title:"Dead letters",actions:W,children:[n("form",{class:"filters",role:"search",onSubmit:A=>{A.preventDefault()},
children:[n(ze,{label:"Correlation id",value:t,set:A=>{he({correlationId:A})}}),n(ze,{label:`Planned from (${we()})`,type:"datetime-local",value:Le(r),set:A=>{he(
{dueFrom:fe(A)})}}),n(ze,{label:"Planned before",type:"datetime-local",value:Le(a),set:A=>{he({dueBefore:fe(A)})}}),Z&&n(w,{kind:"ghost",onClick:()=>{ie(["dead"])},
children:"Clear"})]}),E&&n(me,{error:E,again:j}),!g&&x&&n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})}),g&&M.length===
0&&!x&&n(N,{children:n(I,{title:Z?"No dead timer matches.":"No timer is dead.",children:Z?"Change the filter, or clear it.":n(y,{children:["Timers whose retry p\
olicy has ended appear here, with their payload, for the dead retention of the namespace. ",n("a",{href:$(["timers"],{status:"retrying"}),children:"Timers that \
are retried"})]})})}),g&&M.length>0&&n(y,{children:[n("p",{class:"muted",role:"status",children:[oe(g.read,"dead timer")," in ",oe(M.length,"group"),", by host \
and reason",g.cursor&&", and more",". A timer that was retried stays here as the history of its earlier run, until it is deleted or the dead retention ends."]}),
n("div",{class:"groups",children:M.slice(0,Tn).map(([A,S])=>n("section",{class:"card group","aria-label":`${Sn(S)}: ${S.error}`,children:[n("div",{class:"group-\
head",children:[n("span",{class:"group-count",children:P(S.count)}),n("div",{class:"group-text",children:[n("div",{children:[n("strong",{children:Sn(S)})," ",S.
status?n(ne,{kind:"dead",children:["HTTP ",S.status]}):null]}),n("div",{class:"reason",children:S.error||"no reason"}),n("div",{class:"muted",children:["planned\
 ",pe(S.oldest),S.newest!==S.oldest&&` to ${pe(S.newest)}`]})]}),n("div",{class:"actions",children:[q&&S.error&&n(w,{kind:"small",onClick:()=>{de("retry",S)},children:"\
Retry\u2026"}),q&&S.error&&n(w,{kind:"small danger-ghost",onClick:()=>{de("purge",S)},children:"Delete\u2026"}),n(w,{kind:"small ghost","aria-expanded":m===A,onClick:()=>{
f(m===A?void 0:A)},children:[m===A?"Hide":"Show"," timers"]})]})]}),m===A&&n(Ha,{of:S},_),m===A&&S.count>S.timers.length&&n("p",{class:"muted pad",children:["Th\
e first ",S.timers.length," of ",P(S.count),"."]})]},A))}),M.length>Tn&&n("p",{class:"muted",children:["The ",Tn," largest groups."]}),g.cursor&&n("p",{children:n(
w,{disabled:x,onClick:()=>{X(g)},children:x?"Reading\u2026":"Read more"})})]}),v&&n(tt,{action:v,close:()=>{T(null)},after:j})]})}function Rr(e){return e.cron?e.cron:e.every?`every ${G(e.every)}`:e.rrule?e.rrule:oe(e.dates?.length??0,"date")}function ja({payload:e,request:t,headers:r,...a}){
return ke.hidePayloads?a:{...a,payload:e,request:t,headers:r}}function Dr(){let e=te.value.query.get("status")??"",t=te.value.query.get("cursor")??"",r=C.value,
a=F(`${r}/${e}/${t}`,5e3,s=>O("schedules/list",{namespace:r,status:e||void 0,limit:50,cursor:t||void 0},s));return n(z,{title:"Schedules",actions:ce("write",r)&&
n("a",{class:"button primary",href:$(["new","schedule"]),children:"Create schedule"}),children:[n("form",{class:"filters",role:"search",onSubmit:s=>{s.preventDefault()},
children:n(le,{label:"Status",value:e,set:s=>{he({status:s})},options:[["","All"],["active","Active"],["paused","Paused"],["parked","Parked"]]})}),n(N,{flush:!0,
wide:!0,children:n(U,{of:a,children:s=>n(y,{children:[s.schedules.length===0?n(I,{title:e?`No schedule is ${e}.`:"There are no schedules in this namespace.",command:e?
void 0:`timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${r}`,children:!e&&"A schedule creates a timer for each of i\
ts instants. Create the first one, here or with the CLI:"}):n(re,{caption:"Schedules",head:["Schedule","Status","Occurs","Time zone","Next","Created"],stack:!0,
children:s.schedules.map(o=>n("tr",{children:[n("td",{class:"id","data-label":"Schedule",children:n("a",{href:$(["schedules",o.id]),children:o.id})}),n("td",{"d\
ata-label":"Status",children:n(Ee,{status:o.status})}),n("td",{class:"clip","data-label":"Occurs",children:n("code",{children:o.specs.map(Rr).join("; ")})}),n("\
td",{"data-label":"Time zone",children:o.timeZone}),n("td",{"data-label":"Next",children:n(L,{at:o.nextAt})}),n("td",{class:"num","data-label":"Created",children:o.
created})]},o.id))}),(s.nextCursor||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"pager-buttons",children:[t&&n("a",{class:"button",href:$(
["schedules"],{status:e}),children:"First page"}),s.nextCursor&&n("a",{class:"button",href:$(["schedules"],{status:e,cursor:s.nextCursor}),children:"Next page"})]})]})]})})})]})}
var Za={gap:"The clocks skip its local time; it occurs after the gap.",first:"The clocks repeat its local time; this is the first of the two.",second:"The clock\
s repeat its local time; this is the second of the two."};function $n({of:e,timeZone:t}){return e.length===0?n(I,{title:"There are no further occurrences."}):n(
re,{caption:"Next occurrences",head:[`Local time (${t})`,"Instant","Remark"],stack:!0,children:e.map(r=>n("tr",{children:[n("td",{"data-label":"Local time",children:r.
local.replace("T"," ")}),n("td",{"data-label":"Instant",children:n(L,{at:r.at})}),n("td",{"data-label":"Remark",children:r.remark?n(y,{children:[n(ne,{kind:"ret\
rying",children:"DST"})," ",Za[r.remark]]}):n("span",{class:"muted",children:"\u2013"})})]},r.at))})}function Or({id:e}){let t=C.value,r=F(`schedule/${t}/${e}`,
3e3,u=>O("schedules/get",{namespace:t,id:e},u)),a=r.data,s=F(`preview/${t}/${e}/${a?.version??0}`,3e4,u=>O("schedules/preview",{namespace:t,id:e,limit:10},u)),o=F(
`decisions/${t}/${e}`,5e3,u=>O("schedules/history",{namespace:t,id:e,limit:50},u)),[i,l]=h(null);K(()=>(Pe.value=a?.timeZone??null,()=>{Pe.value=null}),[a?.timeZone]);
let c=()=>{r.again(),o.again(),s.again()},p=a&&ce("write",t)&&a.status!=="ended"&&n(y,{children:[n(w,{kind:"primary",onClick:()=>{l("trigger")},children:"Trigge\
r\u2026"}),a.status==="active"?n(w,{onClick:()=>{l("pause")},children:"Pause\u2026"}):n(w,{onClick:()=>{l("resume")},children:"Resume\u2026"}),n(w,{onClick:()=>{
l("backfill")},children:"Backfill\u2026"}),n(w,{kind:"danger-ghost",onClick:()=>{l("delete")},children:"Delete\u2026"})]});return n(z,{title:e,crumb:n(y,{children:[
n("a",{href:$(["schedules"]),children:"Schedules"})," / ",t]}),actions:p,children:[n(U,{of:r,children:u=>n("div",{class:"grid",children:[n(za,{of:u}),n(N,{title:"\
Timer of an occurrence",children:[n(Xe,{value:ja(u.timer),label:"Template"}),ke.hidePayloads&&n("p",{class:"hint",children:"Its payload, body and headers are hi\
dden by the settings of the server."})]}),n(N,{title:"Next occurrences",wide:!0,flush:!0,aside:s.data&&n("span",{class:"muted",children:["time zones ",s.data.zoneVersion]}),
children:[u.status==="paused"&&n("p",{class:"callout",children:"The schedule is paused: these occurrences are not created until it is resumed."}),n(U,{of:s,children:d=>n(
$n,{of:d.occurrences,timeZone:d.timeZone})})]}),n(N,{title:"Decisions",wide:!0,flush:!0,children:n(U,{of:o,children:({decisions:d})=>d.length===0?n(I,{title:"No\
 occurrence was due yet."}):n(re,{caption:"Decisions about occurrences",head:["Occurrence","Decision","Reason","Timer"],stack:!0,children:d.map(m=>n("tr",{children:[
n("td",{"data-label":"Occurrence",children:n(L,{at:m.at})}),n("td",{"data-label":"Decision",children:n(ne,{kind:m.decision==="created"?"done":m.decision==="skip\
ped"?"retrying":"paused",children:m.decision})}),n("td",{"data-label":"Reason",children:m.reason??n("span",{class:"muted",children:"\u2013"})}),n("td",{class:"i\
d","data-label":"Timer",children:m.timerId?n("a",{href:$(["timers",m.timerId]),children:m.timerId}):n("span",{class:"muted",children:"\u2013"})})]},m.at+m.decidedAt+
m.decision))})})})]})}),a&&i&&n(Wa,{of:a,action:i,close:()=>{l(null)},after:c})]})}function za({of:e}){return n(N,{title:"Definition",aside:n(Ee,{status:e.status}),
children:[n(Zt,{of:e.pause}),n(xe,{of:[["Occurs",e.specs.map((t,r)=>n("div",{children:n("code",{children:Rr(t)})},r))],["Time zone",e.timeZone],["Next",e.nextAt&&
n(L,{at:e.nextAt})],["Created timers",e.created],["From",e.start&&n(L,{at:e.start})],["Until",e.end&&n(L,{at:e.end})],["At most",e.count],["Overlap",e.overlap],
["Catch-up",e.catchUpWindow?`${e.catchUp}, within ${G(e.catchUpWindow)}`:e.catchUp],["Skipped local times",e.gap],["Repeated local times",e.repeated],["Pause af\
ter dead",e.pauseOnDead],["Version",e.version],["Updated",n(L,{at:e.updatedAt})]]})]})}function Wa({of:e,action:t,close:r,after:a}){let[s]=h(e),[o,i]=h(""),[l,c]=h(
"keep"),p={namespace:s.namespace,id:s.id},u={close:r,after:a};switch(t){case"trigger":return n(ue,{...u,title:`Trigger ${s.id}`,verb:"Trigger",path:"schedules/t\
rigger",body:()=>p,done:`${s.id} has created an occurrence.`,children:n("p",{children:"Creates an occurrence now, in addition to the planned ones."})});case"pau\
se":return n(ue,{...u,title:`Pause ${s.id}`,verb:"Pause",path:"schedules/pause",body:()=>({...p,note:o||void 0}),done:`${s.id} is paused.`,children:[n("p",{children:"\
A paused schedule creates no occurrences."}),n(B,{label:"Note",value:o,set:i})]});case"resume":return n(ue,{...u,title:`Resume ${s.id}`,verb:"Resume",path:"sche\
dules/resume",body:()=>p,done:`${s.id} is resumed.`,children:n("p",{children:"The schedule continues with its next occurrence."})});case"delete":return n(ue,{...u,
title:`Delete ${s.id}`,verb:"Delete",danger:!0,path:"schedules/delete",done:`${s.id} is deleted.`,after:()=>{ie(["schedules"])},body:()=>({...p,pending:l,ifVersion:s.
version}),children:n(le,{label:"Its timers that are not finished",value:l,set:c,options:[["keep","Keep them"],["delete","Delete them"]]})});default:return n(Ja,
{of:s,...u})}}function Ja({of:e,close:t,after:r}){let[a,s]=h(""),[o,i]=h(""),[l,c]=h(),[p,u]=h(""),[d,m]=h(!1),f=et(),v=Y(!1),T=async()=>{let _=fe(o),b=fe(a);if(!b||
!_){c(new ve(0,"INCOMPLETE","Enter both times."));return}m(!0),c(void 0),v.current=!1;let k=0,g=0,x=()=>`${oe(k,"occurrence")} created, ${g} existed`;try{do{let E=await O(
"schedules/backfill",{namespace:e.namespace,id:e.id,from:b,to:_});k+=E.created,g+=E.kept,b=E.nextFrom,u(`${x()}${b?`, continuing at ${pe(b)}`:""}.`)}while(b&&!v.
current&&!f.current);b?ge(`${e.id}: ${x()}. Stopped at ${pe(b)}.`,"warn"):ge(`${e.id}: ${x()}.`),!b&&!f.current&&t()}catch(E){let R=se(E);f.current&&ge(`Backfil\
l ${e.id}: failed, ${x()}: ${R.message}`,"warn"),c(R)}m(!1),r()};return n(je,{title:`Backfill ${e.id}`,close:t,children:n("form",{onSubmit:_=>{_.preventDefault(),
T()},children:[n("p",{children:"Creates the occurrences of a past time range that do not exist. They are delivered at once."}),n(B,{label:`From (${we()})`,type:"\
datetime-local",step:"1",value:a,set:s,required:!0}),n(B,{label:"Before",type:"datetime-local",step:"1",value:o,set:i,required:!0,hint:"Not in the future."}),p&&
n("p",{role:"status",class:"callout",children:p}),l&&n(me,{error:l}),n("div",{class:"dialog-foot",children:[d?n(w,{kind:"danger",onClick:()=>{v.current=!0},children:"\
Stop"}):n(w,{onClick:t,children:"Close"}),n("button",{type:"submit",class:"button primary",disabled:d,children:d?"Working\u2026":"Backfill"})]})]})})}function Lr(e,t){return`curl${Se.value?` \\
  -H "Authorization: Bearer $TIMERBUS_TOKEN"`:""} ${hr}/api/v1/${e} \\
  -d ${jt(JSON.stringify(t,null,2))}`}function Fr(e,t){let r=[...t,...C.value==="default"?[]:[["--namespace",C.value]]],a=e.at(-1)??"";return["timerbus "+(a.startsWith(
"-")?[...e.slice(0,-1),`--id=${a}`]:e).map(jt).join(" "),...r.filter(([,o])=>o).map(([o,i])=>`  ${o} ${jt(i)}`)].join(` \\
`)}function An(e){return Object.fromEntries(Object.entries(e).filter(([t,r])=>r!==void 0&&(r!==""||t==="payload")))}function Ir({curl:e,cli:t}){return n(N,{title:"\
The same request",children:[n("h3",{children:"curl"}),n(gt,{text:e,label:"curl"}),n("h3",{children:"Command line"}),n(gt,{text:t,label:"Command line"})]})}function Mr({
title:e,label:t,id:r,invalid:a,send:s,children:o}){let[i,l]=h(),[c,p]=h(!1),u=et(),d=ce("write",C.value),m=async()=>{if(a){l(new ve(0,"INCOMPLETE",a));return}p(
!0),l(void 0);try{let f=await s();u.current||ie(f)}catch(f){let v=se(f);u.current&&ge(`${t} ${r}: ${v.message}`,"warn"),l(v)}p(!1)};return n(N,{title:e,children:n(
"form",{onSubmit:f=>{f.preventDefault(),m()},children:[o,i&&n(me,{error:i}),!d&&n("p",{class:"callout",children:["You have no right to write in ",C.value,"."]}),
n("button",{type:"submit",class:"button primary",disabled:c||!d,children:c?"Sending\u2026":t})]})})}var Ur=[["fail","Refuse (409)"],["replace","Replace it"],["k\
eep","Keep it"]];function qr({children:e}){return n("details",{class:"more",onInvalidCapture:t=>{t.currentTarget.open=!0},children:[n("summary",{children:"More \
settings"}),e]})}function Hr(){let[e,t]=h(""),[r,a]=h("in"),[s,o]=h("15m"),[i,l]=h(""),[c,p]=h(""),[u,d]=h(bn),[m,f]=h("http://127.0.0.1:9000/"),[v,T]=h('{"orde\
r": 1842}'),[_,b]=h(""),[k,g]=h(""),[x,E]=h(""),[R,X]=h(""),[j,de]=h("fail"),q=ft(v),M=An({namespace:C.value,id:e,executeIn:r==="in"?s:void 0,executeAt:r==="at"?
fe(i):void 0,executeAtLocal:r==="local"?c.length===16?c+":00":c:void 0,timeZone:r==="local"?u:void 0,callbackUrl:m,payload:q.value,retryPolicy:_?{maxAttempts:Number(
_)}:void 0,callbackTimeout:k,correlationId:x,flowKey:R,onConflict:j}),Z=[["--in",r==="in"?s:""],["--at",r==="at"?fe(i)??"":""],["--at-local",String(M.executeAtLocal??
"")],["--time-zone",String(M.timeZone??"")],["--callback-url",m],["--payload",q.value===void 0?"":JSON.stringify(q.value)],["--max-attempts",_],["--callback-tim\
eout",k],["--correlation-id",x],["--flow-key",R],["--on-conflict",j]],W=async()=>{let{data:A,late:S}=await Re("timers/create",M);return ge(S?`${A.id} is replace\
d. An earlier delivery may have been sent.`:`${A.id} is created.`,S?"warn":"ok"),["timers",A.id]};return n(z,{title:"Create timer",crumb:n(y,{children:[n("a",{href:$(
["timers"]),children:"Timers"})," / ",C.value]}),actions:n("a",{class:"button",href:$(["new","schedule"]),children:"Schedule instead"}),children:n("div",{class:"\
grid",children:[n(Mr,{title:"Timer",label:"Create timer",id:e,invalid:q.error,send:W,children:[n(B,{label:"Id",value:e,set:t,required:!0,placeholder:"order-1842",
mono:!0,hint:"Unique in the namespace."}),n(le,{label:"When",value:r,set:a,options:[["in","After a duration"],["at","At an instant"],["local","At a local time"]]}),
r==="in"&&n(B,{label:"Duration",value:s,set:o,hint:"Such as 200ms, 30s, 1h30m or 1d12h."}),r==="at"&&n(B,{label:`Time (${we()})`,type:"datetime-local",step:"1",
value:i,set:l,required:!0}),r==="local"&&n(y,{children:[n(B,{label:"Local time",type:"datetime-local",step:"1",value:c,set:p,required:!0}),n(B,{label:"Time zone",
value:u,set:d,hint:"If the rules of the zone change, the timer moves with them."})]}),n(B,{label:"Callback URL",value:m,set:f,mono:!0,hint:"Empty: an event on t\
imerbus.fired."}),n(vt,{label:"Payload (JSON)",value:v,set:T,error:q.error}),n(le,{label:"If the id exists",value:j,set:de,options:Ur}),n(qr,{children:[n(B,{label:"\
Attempts, at most",type:"number",value:_,set:b,hint:"1 to 1000; by default those of the namespace."}),n(B,{label:"Callback timeout",value:k,set:g,placeholder:"3\
0s"}),n(B,{label:"Correlation id",value:x,set:E}),n(B,{label:"Flow key",value:R,set:X,hint:"Timers with the same key share a limit of the namespace."})]})]}),n(
Ir,{curl:Lr("timers/create",M),cli:Fr(["timer","create",e||"order-1842"],Z)})]})})}function jr(){let[e,t]=h(""),[r,a]=h("cron"),[s,o]=h("0 8 * * MON-FRI"),[i,l]=h(
"15m"),[c,p]=h("FREQ=MONTHLY;BYDAY=-1FR"),[u,d]=h(bn),[m,f]=h("http://127.0.0.1:9000/"),[v,T]=h(""),[_,b]=h("allow"),[k,g]=h("all"),[x,E]=h(""),[R,X]=h("fail"),
[j,de]=h(),[q,M]=h(),Z=ft(v),W=r==="cron"?{cron:s}:r==="every"?{every:i}:{rrule:c},A=r!=="every",S=An({namespace:C.value,id:e,specs:[W],timeZone:A?u:void 0,overlap:_,
catchUp:k,count:x?Number(x):void 0,timer:An({callbackUrl:m,payload:Z.value}),onConflict:R}),ye=[[`--${r}`,String(Object.values(W)[0])],["--time-zone",A?u:""],["\
--callback-url",m],["--payload",Z.value===void 0?"":JSON.stringify(Z.value)],["--overlap",_],["--catch-up",k],["--count",x],["--on-conflict",R]],Ce=JSON.stringify(
{namespace:C.value,specs:[W],timeZone:A?u:void 0});K(()=>{let We=new AbortController,Yr=setTimeout(()=>{O("schedules/preview",{...JSON.parse(Ce),limit:6},We.signal).
then(Kt=>{de(Kt),M(void 0)},Kt=>{We.signal.aborted||(M(se(Kt)),de(void 0))})},300);return()=>{clearTimeout(Yr),We.abort()}},[Ce]);let Gr=async()=>{let{data:We}=await Re(
"schedules/create",S);return ge(`${We.id} is created.`),["schedules",We.id]};return n(z,{title:"Create schedule",crumb:n(y,{children:[n("a",{href:$(["schedules"]),
children:"Schedules"})," / ",C.value]}),actions:n("a",{class:"button",href:$(["new","timer"]),children:"Timer instead"}),children:n("div",{class:"grid",children:[
n(Mr,{title:"Schedule",label:"Create schedule",id:e,invalid:Z.error,send:Gr,children:[n(B,{label:"Id",value:e,set:t,required:!0,placeholder:"daily-report",mono:!0}),
n(le,{label:"Occurs",value:r,set:a,options:[["cron","Cron expression"],["every","Interval"],["rrule","RRULE"]]}),r==="cron"&&n(B,{label:"Cron expression",value:s,
set:o,mono:!0,hint:"Minute, hour, day of month, month, day of week; 6 fields begin with seconds."}),r==="every"&&n(B,{label:"Interval",value:i,set:l,hint:"At le\
ast 1s."}),r==="rrule"&&n(B,{label:"RRULE",value:c,set:p,mono:!0}),A&&n(B,{label:"Time zone",value:u,set:d}),n(B,{label:"Callback URL",value:m,set:f,mono:!0,hint:"\
Empty: an event on timerbus.fired."}),n(vt,{label:"Payload (JSON)",value:v,set:T,error:Z.error,rows:3}),n(le,{label:"If the id exists",value:R,set:X,options:Ur}),
n(qr,{children:[n(le,{label:"If the earlier occurrence is not finished",value:_,set:b,options:[["allow","Create the next one"],["skip","Leave the next one out"],
["queue","Create it afterwards"],["cancelOther","Delete the earlier one"]]}),n(le,{label:"After an outage",value:k,set:g,options:[["all","Create all of the last\
 minute"],["last","Create the last one"],["none","Create none"]]}),n(B,{label:"Occurrences, at most",type:"number",value:x,set:E})]})]}),n("div",{class:"column",
children:[n(N,{title:"Next occurrences",flush:!0,children:[q&&n(me,{error:q}),j&&n($n,{of:j.occurrences,timeZone:j.timeZone})]}),n(Ir,{curl:Lr("schedules/create",
S),cli:Fr(["schedule","create",e||"daily-report"],ye)})]})]})})}function Zr(){let e=F("namespaces",15e3,It),[t,r]=h(!1);return n(z,{title:"Namespaces",actions:Ye("admin")&&n(w,{kind:"primary",onClick:()=>{r(!0)},children:"Cr\
eate namespace\u2026"}),children:[n(N,{flush:!0,wide:!0,children:n(U,{of:e,children:a=>a.length===0?n(I,{title:"You may read no namespace.",command:"timerbus ke\
y list",children:"Ask an administrator for a grant such as read@default."}):n(y,{children:[_n.value&&n("p",{class:"callout",children:["The first ",P(a.length),"\
 namespaces. ",n("code",{children:"timerbus namespace list"})," prints all."]}),n(re,{caption:"Namespaces",head:["Namespace","Shards","History","Dead","Host con\
currency","Max. pending","Signed","Updated"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Namespace",children:[n("a",{href:$(["\
namespaces",s.name]),children:s.name})," ",s.deletingSince&&n(ne,{kind:"dead",children:"being deleted"})]}),n("td",{class:"num","data-label":"Shards",children:s.
numShards}),n("td",{"data-label":"History",children:G(s.settings.historyRetention)}),n("td",{"data-label":"Dead",children:G(s.settings.deadRetention)}),n("td",{
class:"num","data-label":"Host concurrency",children:s.settings.hostConcurrency}),n("td",{class:"num","data-label":"Max. pending",children:s.settings.quota?.maxPending?
P(s.settings.quota.maxPending):n("span",{class:"muted",children:"no limit"})}),n("td",{"data-label":"Signed",children:s.settings.secrets?.length?"yes":n("span",
{class:"muted",children:"no"})}),n("td",{"data-label":"Updated",children:n(L,{at:s.updatedAt,only:"relative"})})]},s.name))})]})})}),t&&n(Va,{close:()=>{r(!1)},
after:e.again})]})}function Va({close:e,after:t}){let[r,a]=h(""),[s,o]=h("small");return n(ue,{title:"Create namespace",verb:"Create",path:"namespaces/create",body:()=>r?
{name:r,preset:s}:"Enter a name.",done:`${r} is created.`,close:e,after:t,children:[n(B,{label:"Name",value:r,set:a,required:!0}),n(le,{label:"Size",value:s,set:o,
hint:"It can never be changed.",options:[["small","Below 10,000 timers (16 shards)"],["medium","Below 1,000,000 (256)"],["large","Below 10,000,000 (1,024)"],["x\
large","Below 100,000,000 (4,096)"]]})]})}function zr({name:e}){let t=F(`namespace/${e}`,5e3,c=>O("namespaces/get",{name:e},c)),[r,a]=h(null),[s,o]=h(!1),i=c=>{
a({title:`${c==="pause"?"Pause":"Resume"} ${e}`,verb:c==="pause"?"Pause":"Resume",done:c==="pause"?"paused":"resumed",path:`timers/${c}-matching`,filter:{namespace:e},
describe:c==="pause"?"All scheduled and retrying timers of the namespace. Timers that are created later are not paused.":"All paused timers of the namespace.",count:(p,u)=>Ze(
{namespace:e},c==="resume"?["paused"]:["scheduled","retrying"],p,u)})},l=t.data&&n(y,{children:[ce("write",e)&&n(w,{onClick:()=>{i("pause")},children:"Pause all\
 timers\u2026"}),ce("write",e)&&n(w,{onClick:()=>{i("resume")},children:"Resume all timers\u2026"}),ce("admin",e)&&n(w,{kind:"primary",onClick:()=>{o(!0)},children:"\
Edit\u2026"})]});return n(z,{title:e,crumb:n("a",{href:$(["namespaces"]),children:"Namespaces"}),actions:l,children:[n(U,{of:t,children:c=>{let p=c.settings,u=p.
retryPolicy;return n("div",{class:"grid",children:[n(N,{title:"Settings",aside:c.deletingSince&&n(ne,{kind:"dead",children:"being deleted"}),children:n(xe,{of:[
["Shards",c.numShards],["Callback timeout",G(p.callbackTimeout)],["Retry",`${oe(u.maxAttempts,"attempt")}, from ${G(u.initialInterval)}, \xD7 ${JSON.stringify(u.
backoffMultiplier)}, to ${G(u.maxInterval)}`],["History",G(p.historyRetention)],["Dead timers",G(p.deadRetention)],["Payloads of done timers",p.keepPayload?G(p.
keepPayload):"not kept"],["Final statuses",p.finalStatuses?.join(", ")],["Event topics",p.eventTopics?.join(", ")],["On done",p.onDone&&n("code",{children:p.onDone})],
["On dead",p.onDead&&n("code",{children:p.onDead})],["Headers",p.headers&&Object.keys(p.headers).join(", ")],["Version",c.version],["Updated",n(L,{at:c.updatedAt})]]})}),
n(N,{title:"Limits",children:n(xe,{of:[["Calls of one host",`${p.hostConcurrency} for each dispatcher`],["Pending timers",p.quota?.maxPending?P(p.quota.maxPending):
"no limit"],["Creates",p.quota?.createsPerSecond?`${P(p.quota.createsPerSecond)} per second`:"no limit"],["Payload",p.quota?.maxPayloadBytes?`${P(p.quota.maxPayloadBytes)}\
 bytes`:"102,400 bytes"],...(p.flows??[]).map(d=>[`Flow ${d.pattern}`,qt(d)])]})}),n(N,{title:"Keys of signatures",flush:!0,wide:!0,children:p.secrets?.length?n(
re,{caption:"Keys of signatures",head:["Id","Created","Expires"],children:p.secrets.map(d=>n("tr",{children:[n("td",{children:n("code",{children:d.id})}),n("td",
{children:n(L,{at:d.createdAt})}),n("td",{children:d.expiresAt?n(L,{at:d.expiresAt}):"never"})]},d.id))}):n(I,{title:"Callbacks of this namespace are not signed\
.",command:`timerbus namespace update ${e} --secret -`,children:"Set a secret with the CLI:"})}),(p.callbackAuth||p.tls)&&n(N,{title:"Authentication of callback\
s",children:n(xe,{of:[["Type",p.callbackAuth?.type],["Token endpoint",p.callbackAuth?.tokenUrl],["Client",p.callbackAuth?.clientId??p.callbackAuth?.username],["\
Own authorities",p.tls?.ca&&"yes"],["Client certificate",p.tls?.certificate&&"yes"]]})})]})}}),r&&n(tt,{action:r,close:()=>{a(null)},after:t.again}),s&&t.data&&
n(Ka,{of:t.data,close:()=>{o(!1)},after:t.again})]})}function Ka({of:e,close:t,after:r}){let[a]=h(e),s=a.settings,o={callbackTimeout:G(s.callbackTimeout),historyRetention:G(
s.historyRetention),deadRetention:G(s.deadRetention),hostConcurrency:String(s.hostConcurrency),maxPending:String(s.quota?.maxPending??"")},[i,l]=h(o),c=u=>d=>{l(
{...i,[u]:d})},p=()=>{let u={};for(let d of["callbackTimeout","historyRetention","deadRetention"])i[d]!==o[d]&&(u[d]=i[d]||null);return i.hostConcurrency!==o.hostConcurrency&&
(u.hostConcurrency=i.hostConcurrency?Number(i.hostConcurrency):null),i.maxPending!==o.maxPending&&(u.quota={...s.quota,maxPending:i.maxPending?Number(i.maxPending):
null}),Object.keys(u).length?{name:a.name,settings:u,ifVersion:a.version}:"Nothing has changed."};return n(ue,{title:`Edit ${a.name}`,verb:"Save",path:"namespac\
es/update",body:p,done:`${a.name} is updated.`,close:t,after:r,children:[n(B,{label:"Callback timeout",value:i.callbackTimeout,set:c("callbackTimeout"),hint:"1s\
 to 5m"}),n(B,{label:"History retention",value:i.historyRetention,set:c("historyRetention")}),n(B,{label:"Dead retention",value:i.deadRetention,set:c("deadReten\
tion")}),n(B,{label:"Calls of one host for each dispatcher",type:"number",value:i.hostConcurrency,set:c("hostConcurrency"),hint:"1 to 1024"}),n(B,{label:"Pendin\
g timers, at most",type:"number",value:i.maxPending,set:c("maxPending"),hint:"Empty: no limit"}),n("p",{class:"hint",children:["Empty fields get their default. \
All other settings: ",n("code",{children:["timerbus namespace update ",a.name," --help"]})]})]})}var Ga=50;function Ya(e){if(!e.held)return"free";let t=kn(e.overdueFor??"");return t>=6e4?"l4":t>=1e4?"l3":t>=2e3?"l2":t>0?"l1":"l0"}var Qa=[["l0","nothing over\
due"],["l1","< 2 s"],["l2","< 10 s"],["l3","< 1 min"],["l4","longer"],["free","no owner"]];function Wr(){let e=C.value,t=F(`shards/${e}`,5e3,s=>O("shards/list",
{namespace:e},s)),[r,a]=h(Ga);return n(z,{title:"Shards",children:n(U,{of:t,children:({shards:s})=>{let o=s.filter(d=>!d.held).length,i=s.filter(d=>d.overdueFor),
l=Math.max(0,...i.map(d=>kn(d.overdueFor??""))),c=new Map;for(let d of s)d.held&&c.set(d.node??"",(c.get(d.node??"")??0)+1);let p=Math.max(1,...c.values()),u=mt();
return n(y,{children:[n("div",{class:"tiles",children:[n(Q,{label:"Shards",value:P(s.length),hint:e}),n(Q,{label:"Without an owner",value:P(o),kind:o?"warn":"",
hint:o?"no scheduler runs, or one just ended":"all are owned"}),n(Q,{label:"With overdue timers",value:P(i.length),kind:l>1e4?"warn":"",hint:l?`longest ${Oe(l)}`:
"none"}),n(Q,{label:"Nodes",value:P(c.size),hint:"that own shards"})]}),n("div",{class:"grid",children:[n(N,{title:"Lag",wide:!0,aside:n("div",{class:"legend",children:Qa.
map(([d,m])=>n("span",{children:[n("i",{class:`cell ${d}`}),m]},d))}),children:n("div",{class:"heat",role:"img","aria-label":`${oe(s.length,"shard")}: ${o} with\
out an owner, ${i.length} with overdue timers. The table below lists ${s.length>r?`the first ${r}`:"them"}.`,children:s.map(d=>n("i",{class:`cell ${Ya(d)}`,title:`\
shard ${d.shard}, partition ${d.partition}, ${d.held?d.node:"no owner"}${d.overdueFor?`, overdue for ${d.overdueFor}`:""}`},d.shard))})}),n(N,{title:"Balance",wide:!0,
children:c.size===0?n(I,{title:"No node owns a shard.",command:"timerbus scheduler --help",children:"Start a scheduler:"}):n("ul",{class:"balance",children:[...c].
sort(([d],[m])=>d<m?-1:1).map(([d,m])=>n("li",{children:[n("span",{class:"clip",children:d}),n("span",{class:"meter","aria-hidden":"true",children:n("span",{style:{
width:`${m/p*100}%`}})}),n("span",{class:"num",children:oe(m,"shard")})]},d))})}),n(N,{title:"Every shard",wide:!0,flush:!0,children:[n(re,{caption:"Shards",head:[
"Shard","Partition","Owner","Claimed","Watermark","Next due","Overdue for"],stack:!0,children:s.slice(0,r).map(d=>n("tr",{children:[n("td",{class:"num","data-la\
bel":"Shard",children:d.shard}),n("td",{class:"num","data-label":"Partition",children:d.partition}),n("td",{class:"clip","data-label":"Owner",children:d.held?d.
node:n(ne,{kind:"retrying",children:"none"})}),n("td",{"data-label":"Claimed",children:n(L,{at:d.claimedAt,only:"relative"})}),n("td",{"data-label":"Watermark",
children:d.watermark?n("time",{dateTime:d.watermark,title:d.watermark,children:[Oe(Math.max(0,u-Date.parse(d.watermark)))," behind"]}):n("span",{class:"muted",children:"\
\u2013"})}),n("td",{"data-label":"Next due",children:n(L,{at:d.nextDueAt,only:"relative"})}),n("td",{class:"num","data-label":"Overdue for",children:d.overdueFor??
n("span",{class:"muted",children:"\u2013"})})]},d.shard))}),s.length>r&&n("div",{class:"pager",children:[n("span",{class:"muted",children:[r," of ",P(s.length)]}),
n(w,{onClick:()=>{a(r+500)},children:"Show more"})]})]})]})]})}})})}function Xa(){let e=Y(new rt("dispatcher_callback_seconds_count")),t=C.value,r=F(`callbacks/${t}`,3e3,async a=>{let s=new nt(await Ot(a)),o=e.current.add(s),i=l=>s.
quantile(l,"dispatcher_callback_seconds",o,{namespace:t});return{called:s.sum("dispatcher_hosts",{state:"called"}),queued:s.sum("dispatcher_hosts",{state:"queue\
d"}),open:s.sum("dispatcher_hosts",{state:"open"}),inFlight:s.sum("dispatcher_in_flight"),p50:i(.5),p99:i(.99),results:[...s.by("dispatcher_callbacks_total","re\
sult",{namespace:t})].filter(([,l])=>l>0)}});return n(U,{of:r,children:a=>a.called===void 0?n("p",{class:"callout",children:["This process delivers no timers, s\
o it knows no hosts. Dispatchers export their figures at ",n("code",{children:"/metrics"}),"."]}):n(y,{children:[n("div",{class:"tiles",children:[n(Q,{label:"Ho\
sts called",value:P(a.called),hint:"with calls in flight"}),n(Q,{label:"Hosts with a queue",value:P(a.queued??0),hint:"timers wait for a permit",kind:a.queued?"\
warn":""}),n(Q,{label:"Open circuits",value:P(a.open??0),hint:"hosts that do not answer",kind:a.open?"bad":""}),n(Q,{label:"In flight",value:P(a.inFlight??0),hint:"\
deliveries of this process"}),n(Q,{label:"Callback p50",value:He(a.p50),hint:`${t}, last minute`}),n(Q,{label:"Callback p99",value:He(a.p99),hint:`${t}, last mi\
nute`})]}),a.results.length>0&&n(N,{title:`Answers of ${t} since the start of this process`,wide:!0,children:n("div",{class:"chips",children:a.results.map(([s,o])=>n(
"span",{class:`chip ${s==="2xx"?"done":s==="3xx"?"":"dead"}`,children:[s," ",n("strong",{children:P(o)})]},s))})})]})})}function es(){let e=C.value,t=F(`targets\
/${e}`,3e3,r=>O("targets/list",{namespace:e,limit:200},r));return n(N,{title:"Hosts and user topics",flush:!0,wide:!0,children:n(U,{of:t,children:({delivers:r,targets:a})=>r?
a.length===0?n(I,{title:`No timer of ${e} has been delivered since the start of this process.`}):n(re,{caption:"Hosts and user topics",head:["Target","Circuit",
"Running","Waiting","Concurrency"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Target",children:s.target}),n("td",{"data-label":"\
Circuit",children:s.circuitOpen?n(ne,{kind:"dead",children:"open"}):n(ne,{kind:"done",children:"closed"})}),n("td",{class:"num","data-label":"Running",children:P(
s.running)}),n("td",{class:"num","data-label":"Waiting",children:P(s.waiting)}),n("td",{class:"num","data-label":"Concurrency",children:P(s.concurrency)})]},s.target))}):
n(I,{title:"This process delivers no timers, so it knows no hosts.",children:"Dispatchers that run as separate processes do not share this state."})})})}function Jr(){
let e=C.value,t=te.value.query.get("after")??"",r=F(`flows/${e}/${t}`,3e3,a=>O("flows/list",{namespace:e,after:t||void 0,limit:100},a));return n(z,{title:"Targe\
ts",children:[Ye("read")?n(Xa,{}):n("p",{class:"callout",children:"The figures of hosts need the right to read all namespaces."}),n(es,{}),n(N,{title:"Flow keys",
flush:!0,wide:!0,children:n(U,{of:r,children:a=>n(y,{children:[a.flows.length===0?n(I,{title:`No flow of ${e} is in use.`,command:`timerbus namespace update ${e}\
 --flow 'tenant-*:10/1s,concurrency=2'`,children:"Timers with the same flow key share a limit. Set limits with the CLI:"}):n(re,{caption:"Flow keys",head:["Flow\
 key","Limit","Running","Waiting","Backlog","Dispatchers"],stack:!0,children:a.flows.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Flow key",children:s.
flowKey}),n("td",{"data-label":"Limit",children:s.limit?qt(s.limit):"no pattern matches"}),n("td",{class:"num","data-label":"Running",children:P(s.running)}),n(
"td",{class:"num","data-label":"Waiting",children:P(s.waiting)}),n("td",{class:"num","data-label":"Backlog",children:P(s.backlog)}),n("td",{class:"num","data-la\
bel":"Dispatchers",children:P(s.dispatchers)})]},s.flowKey))}),(a.next||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"pager-buttons",children:[
t&&n("a",{class:"button",href:$(["targets"]),children:"First page"}),a.next&&n("a",{class:"button",href:$(["targets"],{after:a.next}),children:"Next page"})]})]})]})})})]})}function Kr({id:e}){let t=C.value,r=F(`timer/${t}/${e}`,2e3,p=>O("timers/get",{namespace:t,id:e},p)),a=F(`history/${t}/${e}`,3e3,p=>O("timers/history",{namespace:t,
id:e,limit:200},p)),[s,o]=h(null),i=r.data,l=()=>{r.again(),a.again()},c=i&&ce("write",t)&&n(y,{children:[i.status==="dead"||i.status==="parked"||i.status==="do\
ne"?n(w,{kind:"primary",onClick:()=>{o("retry")},children:"Retry\u2026"}):n(y,{children:[i.status!=="paused"&&n(w,{kind:"primary",onClick:()=>{o("run")},children:"\
Run now\u2026"}),i.status==="paused"?n(w,{onClick:()=>{o("resume")},children:"Resume\u2026"}):n(w,{onClick:()=>{o("pause")},children:"Pause\u2026"})]}),i.status!==
"dead"&&i.status!=="done"&&n(y,{children:[n(w,{onClick:()=>{o("update")},children:"Update\u2026"}),n(w,{kind:"danger-ghost",onClick:()=>{o("delete")},children:"\
Delete\u2026"})]})]});return n(z,{title:e,crumb:n(y,{children:[n("a",{href:$(["timers"]),children:"Timers"})," / ",t]}),actions:c,children:[n(U,{of:r,children:p=>n(
"div",{class:"grid",children:[n(ts,{of:p}),n(ns,{of:p}),n(N,{title:"Attempts",wide:!0,children:n(U,{of:a,children:({attempts:u})=>n(rs,{attempts:u,of:p})})})]})}),
r.error?.status===404&&n(I,{title:"This timer does not exist, or its history has expired.",children:n("a",{href:$(["timers"]),children:["All timers of ",t]})}),
i&&s&&n(as,{of:i,action:s,close:()=>{o(null)},after:l})]})}function ts({of:e}){let t=e.retryPolicy,r=e.status==="done"||e.status==="dead";return n(N,{title:"Sta\
te",aside:n(Ee,{status:e.status}),children:[e.lastError&&n("div",{class:"callout bad",children:[n("strong",{children:e.lastStatusCode?`HTTP ${e.lastStatusCode}`:
"Last error"})," ",e.lastError]}),n(Zt,{of:e.pause}),n(xe,{of:[["Due",r?void 0:n(L,{at:e.dueAt})],["Execute at",n(L,{at:e.executeAt})],["Local time",e.executeAtLocal&&
`${e.executeAtLocal.replace("T"," ")} ${e.timeZone}`],["Last attempt",e.executedAt&&n(L,{at:e.executedAt})],["Attempts",`${e.attempts} of ${t.maxAttempts}`],["R\
etry",`from ${G(t.initialInterval)}, \xD7 ${JSON.stringify(t.backoffMultiplier)}, to ${G(t.maxInterval)}`+(t.maxAttemptsDuration&&t.maxAttemptsDuration!=="0s"?`\
, for ${G(t.maxAttemptsDuration)}`:"")],["Window",e.window],["Expires",e.expiresAt&&n(L,{at:e.expiresAt})],["Flow key",e.flowKey&&n("code",{children:e.flowKey})],
["On done",e.onDone&&n("code",{children:e.onDone})],["On dead",e.onDead&&n("code",{children:e.onDead})],["Correlation id",n("a",{href:$(["timers"],{correlationId:e.
correlationId}),children:n("code",{children:e.correlationId})})],["Created",n(L,{at:e.createdAt})],["Updated",n(L,{at:e.updatedAt})],["Generation",n("code",{children:e.
generation})],["UUID",n("code",{children:e.uuid})]]})]})}function ns({of:e}){let t=!ke.hidePayloads,r=n("p",{class:"muted",children:"Hidden by the settings of t\
he server."});return n(N,{title:"Request",children:[n(xe,{of:[["Delivers",e.deliver],["Method",e.request?.method??(e.callbackUrl?"POST":void 0)],["URL",e.callbackUrl&&
n("span",{class:"url",children:[n("code",{children:e.callbackUrl})," ",n(wn,{text:e.callbackUrl})]})],["Topic",e.topic&&n("code",{children:e.topic})],["Key",e.key&&
n("code",{children:e.key})],["Timeout",G(e.callbackTimeout)],["Content type",e.request?.contentType]]}),e.headers&&Object.keys(e.headers).length>0&&n(y,{children:[
n("h3",{children:"Headers"}),t?n(xe,{of:Object.entries(e.headers).map(([a,s])=>[a,n("code",{children:s})])}):r]}),n("h3",{children:"Payload"}),t?e.payload!==void 0?
n(Xe,{value:e.payload,label:"Payload"}):e.request?.body!==void 0?n(Xe,{value:e.request.body,label:"Body"}):e.request?.bodyBase64!==void 0?n(Xe,{value:e.request.
bodyBase64,label:"Body, base64"}):n("p",{class:"muted",children:e.status==="done"?"A done timer is shown without its payload.":"This timer has no payload."}):r]})}
var Vr={done:"done",rescheduled:"scheduled",failed:"retrying",dead:"dead",expired:"parked"};function rs({attempts:e,of:t}){if(e.length===0)return n(I,{title:"No\
 attempt has ended yet.",children:t.status==="scheduled"&&n(y,{children:["The first one begins ",n(L,{at:t.dueAt}),"."]})});let r=o=>Date.parse(o.finishedAt)-Date.
parse(o.startedAt),a=Math.max(1,...e.map(r)),s=(o,i)=>{let l=e[i+1];return Date.parse(o.startedAt)-Date.parse(l?.generation===o.generation&&l.nextAt?l.nextAt:o.
executeAt)};return n("ol",{class:"timeline",children:e.map((o,i)=>n("li",{class:Vr[o.outcome],children:[n("div",{class:"timeline-head",children:[n(ne,{kind:Vr[o.
outcome],children:o.outcome}),n("strong",{children:["Attempt ",o.attempt]}),n(L,{at:o.startedAt}),n("span",{class:"muted",children:[Oe(Math.max(0,s(o,i)))," lat\
e"]})]}),n("div",{class:"timeline-body",children:[n("span",{children:[t.callbackUrl?n(y,{children:[n("code",{children:t.request?.method??"POST"})," \u2192 "]}):
"published \u2192 ",o.statusCode?n("strong",{children:["HTTP ",o.statusCode]}):o.error?"no answer":"accepted"]}),n("span",{class:"meter","aria-hidden":"true",children:n(
"span",{style:{width:`${Math.max(1,r(o)/a*100)}%`}})}),n("span",{class:"num",children:Oe(r(o))})]}),o.error&&n("p",{class:"timeline-error",children:o.error}),o.
nextAt&&n("p",{class:"muted",children:["Next attempt: ",n(L,{at:o.nextAt})]})]},o.generation+o.attempt+o.startedAt))})}function as({of:e,action:t,close:r,after:a}){
let[s]=h(e),[o,i]=h(""),[l,c]=h("deliver"),[p,u]=h(""),d={namespace:s.namespace,id:s.id,ifGeneration:s.generation},m={close:r,after:a};switch(t){case"run":return n(
ue,{...m,title:`Run ${s.id} now`,verb:"Run now",path:"timers/run-now",body:()=>d,done:`${s.id} runs now.`,children:n("p",{children:"The timer becomes due at onc\
e, as a new run of attempts."})});case"pause":return n(ue,{...m,title:`Pause ${s.id}`,verb:"Pause",path:"timers/pause",body:()=>({...d,note:o||void 0}),done:`${s.
id} is paused.`,children:[n("p",{children:"A paused timer is not delivered until it is resumed."}),n(B,{label:"Note",value:o,set:i,hint:"Why it is paused; shown\
 to everyone who may read it."})]});case"resume":return n(ue,{...m,title:`Resume ${s.id}`,verb:"Resume",path:"timers/resume",body:()=>({...d,overdue:l}),done:`${s.
id} is resumed.`,children:n(le,{label:"If its time has passed",value:l,set:c,options:[["deliver","Deliver it now"],["skip","Let it expire"]]})});case"retry":return n(
ue,{...m,title:`Retry ${s.id}`,verb:"Retry",path:"timers/retry",body:()=>({...d,executeIn:p||void 0}),done:`${s.id} is scheduled again.`,children:[n("p",{children:[
"The timer starts again at attempt 1",s.status==="done"&&". A done timer can be retried only if its namespace keeps payloads","."]}),n(B,{label:"Delay",value:p,
set:u,placeholder:"0s",hint:"Such as 10m; now if it is empty."})]});case"delete":return n(ue,{...m,title:`Delete ${s.id}`,verb:"Delete",danger:!0,path:"timers/d\
elete",body:()=>d,done:`${s.id} is deleted.`,after:()=>{ie(["timers"])},children:n("p",{children:"It is not delivered any more."})});default:return n(ss,{of:s,...m})}}
function ss({of:e,close:t,after:r}){let a={at:Le(e.executeAt),url:e.callbackUrl??"",payload:e.payload===void 0?"":JSON.stringify(e.payload,null,2)},[s,o]=h(a.at),
[i,l]=h(a.url),[c,p]=h(a.payload),u=()=>{let d={};if(s!==a.at){let m=fe(s);if(!m)return"Enter the time completely.";d.executeAt=m}if(i!==a.url&&(d.callbackUrl=i||
null),c!==a.payload){let{value:m,error:f}=ft(c);if(f)return f;d.payload=m??null}return Object.keys(d).length===0?"Nothing has changed.":{namespace:e.namespace,id:e.
id,ifGeneration:e.generation,...d}};return n(ue,{title:`Update ${e.id}`,verb:"Save",path:"timers/update",body:u,done:`${e.id} is updated.`,close:t,after:r,children:[
n(B,{label:`Time (${we()})`,type:"datetime-local",step:"1",value:s,set:o}),n(B,{label:"Callback URL",value:i,set:l,mono:!0}),ke.hidePayloads?n("p",{class:"muted",
children:"Payloads are hidden by the settings of the server."}):n(vt,{label:"Payload (JSON)",value:c,set:p,rows:8}),n("p",{class:"hint",children:"Only changed f\
ields are sent. The update starts again at attempt 1, and fails if the timer has changed since."})]})}var En=[["overview","Overview","o"],["timers","Timers","t"],["dead","Dead letters","d"],["schedules","Schedules","s"],["namespaces","Namespaces","n"],["targets",
"Targets","a"],["shards","Shards","h"]];function os(){let[e="overview",t,r]=te.value.path,a=`${e}/${C.value}/${t??""}`;if(!$e.value&&(e==="overview"||e==="targe\
ts"))return n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})});switch(e){case"overview":return n(Pr,{},a);case"timers":
return t===void 0?n(Er,{},a):n(Kr,{id:t},a);case"dead":return n(Br,{},a);case"schedules":return t===void 0?n(Dr,{},a):n(Or,{id:t},a);case"namespaces":return t===
void 0?n(Zr,{}):n(zr,{name:t},t);case"targets":return n(Jr,{},a);case"shards":return n(Wr,{},a);case"new":return t==="schedule"?n(jr,{},a):n(Hr,{},a+(r??""));default:
return n(z,{title:"Not found",children:n(I,{title:"There is no such page.",children:n("a",{href:$(["overview"]),children:"Overview"})})})}}function is({reason:e}){
let[t,r]=h(""),[a,s]=h(),[o,i]=h(!1);K(()=>{document.title="Sign in \xB7 Timerbus"},[]);let l=async()=>{let c=Se.value;i(!0),s(void 0),Rt(t.trim());try{await Lt()}catch(p){
Rt(c),s(se(p))}i(!1)};return n("main",{class:"sign-in",children:n("form",{class:"card",onSubmit:c=>{c.preventDefault(),l()},children:[n("h1",{children:[n(Nn,{}),
" Timerbus"]}),n("p",{children:"Sign in with the token of the service, the token of an API key, or a token of the identity provider."}),a?n(me,{error:a}):Se.value&&
n("div",{class:"error",role:"alert",children:n("p",{children:e})}),n("div",{class:"field",children:[n("label",{for:"token",children:"Token"}),n("input",{id:"tok\
en",type:"password",value:t,autocomplete:"off",required:!0,"aria-describedby":"token-hint",onInput:c=>{r(c.currentTarget.value)}}),n("p",{class:"hint",id:"token\
-hint",children:["It stays in this tab until the tab is closed. Create a key for reading with",n("code",{children:" timerbus key create ui --grant read@*"}),"."]})]}),
n("button",{type:"submit",class:"button primary block",disabled:o,children:o?"Checking\u2026":"Sign in"})]})})}var Nn=()=>n("svg",{class:"mark",viewBox:"0 0 32 \
32","aria-hidden":"true",children:[n("rect",{width:"32",height:"32",rx:"7",class:"mark-back"}),n("circle",{cx:"16",cy:"16",r:"9",class:"mark-line"}),n("path",{d:"\
M16 10.5V16l4 2.6",class:"mark-line"})]});function ls({close:e}){return n(je,{title:"Keyboard",close:e,children:[n("dl",{class:"facts keys",children:[En.map(([,
t,r])=>n("div",{children:[n("dt",{children:[n("kbd",{children:"g"})," ",n("kbd",{children:r})]}),n("dd",{children:t})]},r)),n("div",{children:[n("dt",{children:n(
"kbd",{children:"c"})}),n("dd",{children:"Create a timer"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"/"})}),n("dd",{children:"Search or filter"})]}),
n("div",{children:[n("dt",{children:n("kbd",{children:"l"})}),n("dd",{children:"Live updates on or off"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"\
?"})}),n("dd",{children:"This list"})]})]}),n("label",{class:"check",children:[n("input",{type:"checkbox",checked:Ut.value==="on",onChange:t=>{Ut.value=t.currentTarget.
checked?"on":"off"}}),"Use these keys"]})]})}var Pn=0;function cs(e){K(()=>{let t=r=>{let a=r.target;if(r.ctrlKey||r.metaKey||r.altKey||a.closest("input, textar\
ea, select, [contenteditable]")||document.querySelector("dialog[open]"))return;if(r.key==="?"){e();return}if(Ut.value==="off")return;let s=Date.now()-Pn<1500;if(Pn=
0,s){let o=En.find(([,,i])=>i===r.key);o&&ie([o[0]])}else if(r.key==="g")Pn=Date.now();else if(r.key==="c")ie(["new","timer"]);else if(r.key==="l")Ae.value=Ae.value===
"on"?"off":"on";else if(r.key==="/"){let o=document.querySelector("[data-search]");o&&(r.preventDefault(),o.focus())}};return addEventListener("keydown",t),()=>{
removeEventListener("keydown",t)}},[])}function us(){let[e,t]=h(!1),[r,a]=h(!1);cs(()=>{a(!0)}),K(()=>{let c=new AbortController;return $e.value&&It(c.signal).catch(
()=>{}),()=>{c.abort()}},[$e.value?.name]);let[s="overview"]=te.value.path;K(()=>{t(!1)},[te.value]);let o=[...new Set([C.value,...Ft.value.map(c=>c.name)])].sort(),
i=c=>{te.value.path.length>1&&s!=="new"?ie([s],{ns:c}):he({ns:c})};return n(y,{children:[n("button",{type:"button",class:"skip",onClick:()=>{document.querySelector(
"#main h1")?.focus()},children:"Skip to the content"}),n("header",{children:[n(w,{kind:"icon menu","aria-label":"Menu","aria-expanded":e,"aria-controls":"nav",onClick:()=>{
t(!e)},children:"\u2630"}),n("a",{class:"brand","aria-label":"Timerbus, overview",href:$(["overview"]),children:[n(Nn,{}),n("span",{children:"Timerbus"})]}),n("\
label",{class:"sr",for:"ns",children:"Namespace"}),n("select",{id:"ns",class:"namespace",value:C.value,onChange:c=>{i(c.currentTarget.value)},children:o.map(c=>n(
"option",{value:c,selected:c===C.value,children:c},c))}),n("div",{class:"spacer"}),ke.readOnly&&n("span",{class:"badge paused",children:"read-only"}),n("div",{class:`\
prefs${e?" open":""}`,children:[n("label",{class:"sr",for:"zone",children:"Time zone"}),n("select",{id:"zone",value:_e.value,onChange:c=>{_e.value=c.currentTarget.
value},children:[n("option",{value:"local",selected:_e.value==="local",children:"Local time"}),n("option",{value:"utc",selected:_e.value==="utc",children:"UTC"}),
n("option",{value:"schedule",selected:_e.value==="schedule",children:["Schedule",Pe.value?` (${Pe.value})`:"\u2019s zone"]})]}),n(w,{kind:"ghost live","aria-pre\
ssed":Ae.value==="on",title:"Live updates",onClick:()=>{Ae.value=Ae.value==="on"?"off":"on"},children:[n("span",{class:"dot"}),"Live"]}),n("label",{class:"sr",for:"\
theme",children:"Colours"}),n("select",{id:"theme",value:De.value,onChange:c=>{De.value=c.currentTarget.value},children:[n("option",{value:"auto",selected:De.value===
"auto",children:"Auto"}),n("option",{value:"light",selected:De.value==="light",children:"Light"}),n("option",{value:"dark",selected:De.value==="dark",children:"\
Dark"})]})]})]}),n("div",{class:"frame",children:[n("nav",{id:"nav","aria-label":"Pages",class:e?"open":"",children:[n("ul",{children:En.map(([c,p])=>n("li",{children:n(
"a",{href:$([c]),"aria-current":s===c?"page":void 0,children:p})},c))}),n("div",{class:"nav-foot",children:[n("div",{children:$e.value?.name==="anyone"?"no cred\
ential required":$e.value?.name}),Se.value&&n(w,{kind:"small",onClick:()=>{Rt(""),$e.value=null,Ft.value=[],Ge.value=""},children:"Sign out"}),n(w,{kind:"small",
onClick:()=>{a(!0)},children:"Keyboard"}),n("div",{class:"version",children:[ke.version," \xB7 ",n("a",{href:"licenses.txt",children:"licences"})]})]})]}),n("ma\
in",{id:"main",children:n(os,{})})]}),n("div",{class:"notices",role:"status","aria-live":"polite",children:Qe.value.map(c=>n("div",{class:`notice ${c.kind}`,children:[
c.text,n(w,{kind:"icon","aria-label":"Dismiss",onClick:()=>{yn(c.id)},children:"\u2715"})]},c.id))}),r&&n(ls,{close:()=>{a(!1)}})]})}var ds=Lt();function ps(){let[
e,t]=h(),r=(a=Lt())=>{t(void 0),a.catch(s=>{let o=se(s);o.status!==401&&t(o)})};return Tt(()=>{r(ds)},[]),Ge.value!==null?n(is,{reason:Ge.value}):e?n("main",{class:"\
sign-in",children:n("div",{class:"card",children:[n("h1",{children:[n(Nn,{})," Timerbus"]}),n(me,{error:e,again:()=>{r()}})]})}):n(us,{})}Zn(n(ps,{}),document.getElementById(
"app"));
